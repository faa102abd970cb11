"""Several rewards: summed and then normalised, or each normalised and then summed."""

# --8<-- [start:comment]
import torch
right = torch.tensor([1.0, 1, 0, 0])
tokens = torch.tensor([200.0, 600, 400, 800])
def norm(x):
    return (x - x.mean()) / (x.std() + 1e-6)
print(norm(right - tokens))         # sum first
print(norm(right) + norm(-tokens))  # each first
# --8<-- [end:comment]

# --8<-- [start:judge]
from ppo_ref.group_advantages import grpo

def judged(score):  # one group, one token each
    rewards = score[:, None]
    return grpo(
        token_level_rewards=rewards,
        response_mask=rewards == rewards,
        groups=torch.zeros(len(score)).long(),
    ).advantages[:, 0]

sum_first = judged(right - tokens)
each_first = judged(right) + judged(-tokens)
assert sum_first.allclose(norm(right - tokens))
assert each_first.allclose(
    norm(right) + norm(-tokens)
)
assert sum_first[2] > sum_first[1]  # wrong, short
assert each_first[2] < each_first[1]
# --8<-- [end:judge]

# --8<-- [start:apart]
def show(name, *rewards):
    both = judged(sum(rewards))
    each = sum(judged(x) for x in rewards)
    print(name)
    for label, A in ("sum", both), ("each", each):
        cells = (f"{x:z6.2f}" for x in A)
        print(f"  {label:4}", *cells)
    return both, each

one = torch.tensor([1.0, 0, 0, 0])  # is right
short = torch.tensor([0.0, 1, 1, 0])
both, each = show("four answers", one, short)
assert both[0] == both[1] and each[0] > each[1]
pair = torch.tensor([1.0, 0])  # right, but longer
length = torch.tensor([-0.3, -0.2])
both, each = show("two answers", pair, length)
assert both[0] > 0.7 and each.abs().max() < 0.001
# --8<-- [end:apart]

# --8<-- [start:weights]
near = torch.tensor([486.0, 514, 498, 502])
small = 0.001  # weight of the length, summed first
rates = []
print("tokens           std  sum first  each first")
for spread in near, tokens:
    std = spread.std().item()
    rates.append(std / right.std().item())
    cells = "".join(f"{x:4.0f}" for x in spread)
    both = f"{1 / small:11.0f}{rates[-1]:12.0f}"
    print(f"{cells} {std:4.0f}{both}")
# --8<-- [end:weights]

# --8<-- [start:settled]
price = -small * tokens
wrong = torch.zeros(4)  # none of them is right
weight = 0.1  # of the length, after the division
def light(x):
    A = judged(x) + weight * judged(price)
    print("  0.1 ", *(f"{a:z6.2f}" for a in A))
    return A
both, each = show("all wrong", wrong, price)
assert both.allclose(each)
alone = light(wrong)
show("two are right", right, price)
assert light(right).max() > 8 * alone.max()
# --8<-- [end:settled]

# --8<-- [start:bonus]
charge = -small * tokens * right  # wrong: 0
_, each = show("charge if right", right, charge)
assert each[1] < each[2]  # right below wrong
bonus = (1 - small * tokens) * right  # wrong: 0
both, each = show("bonus if right", right, bonus)
for A in both, each:
    assert A[0] > A[1] > A[2:].max()
paid = bonus.where(wrong > 0, 0)  # to nobody
_, none = show("no right one", wrong, paid)
assert not none.any()
# --8<-- [end:bonus]

# --8<-- [start:whiten]
from ppo_ref.masking import masked_whiten

mask = torch.ones(4, 4).bool()
mask[1:, 1:] = False  # the first answer is long
pushes = torch.tensor([1.0, -1, 0, 0])  # two groups
by_answer = pushes / pushes.std()
by_token = masked_whiten(
    pushes[:, None].expand(4, 4), mask
)[:, 0]
for A in by_answer, by_token:
    print(*(f"{x:z6.2f}" for x in A))
assert by_answer[2] == 0 and by_token[2] < 0
# --8<-- [end:whiten]

# --8<-- [start:kept]
total = torch.tensor([1.0, 0, 1, 0])
rest = 1 - total  # the two always add up to 1
both, each = show("same total", total, rest)
assert each.abs().sum() > 0, "GDPO is silent too"
# --8<-- [end:kept]

# --8<-- [start:dominates]
both, each = show("all wrong", wrong, price)
share = judged(price) / each
print("length", *(f"{x:.0%}" for x in share))
assert share.max() < 1, "length has everything"
# --8<-- [end:dominates]

# --8<-- [start:three]
first = torch.tensor([1.0, 0, 0, 0])
second = torch.tensor([0.0, 1, 0, 0])
third = 1 - first - second
both, each = show("three", first, second, third)
assert not both.any() and each[2] != 0
# --8<-- [end:three]
