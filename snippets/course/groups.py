"""GRPO: the group of a prompt's answers as its own baseline, without a critic."""

# --8<-- [start:eight]
import torch
from ppo_ref.examples import world

w = world()
P = w.response_probs(w.edge_log_probs)
draws = torch.Generator().manual_seed(0)
drawn = P.multinomial(8, True, generator=draws)
s = w.scores[drawn]  # the eight of step 2
excess = s - s.mean()
A = excess / (s.std() + 1e-6)
print("s   ", *(f"{x:5.0f}" for x in s))
print("diff", *(f"{x:5.2f}" for x in excess))
print("A   ", *(f"{x:5.2f}" for x in A))
# --8<-- [end:eight]

# --8<-- [start:judge]
from ppo_ref.group_advantages import grpo

mask = w.response_mask[drawn]
r = torch.zeros_like(w.values[drawn])
r[range(8), mask.sum(1) - 1] = s  # at the end
judge = grpo(
    token_level_rewards=r,
    response_mask=mask,
    groups=torch.zeros(8, dtype=torch.long),
).advantages
assert judge.allclose(A[:, None] * mask)
# --8<-- [end:judge]

# --8<-- [start:table]
def group(k, n=8):
    """Of a right answer and a wrong one."""
    s = torch.tensor([1.0] * k + [0.0] * (n - k))
    excess = s - s.mean()
    A = excess / (s.std() + 1e-6)
    return torch.stack([excess, A])[:, [0, -1]]

print("right    diff           A")
for k in 1, 2, 4, 6, 7:
    cells = (f"{x:6.2f}" for x in group(k).ravel())
    print(f"{k:5}", *cells)
# --8<-- [end:table]

# --8<-- [start:weight]
from math import comb

def weight(p, n=8):
    """The mean push, in gradients of J."""
    total = 0
    for k in range(1, n):
        chance = p**k * (1 - p) ** (n - k)
        chance *= comb(n, k)
        squares = k * (n - k) / n
        std = (squares / (n - 1)) ** 0.5
        total += chance * squares / n / std
    return total / (p * (1 - p))

J = (P @ w.scores).item()
hard, even, easy = 0.125, 0.5, 0.95
plain = (8 - 1) / 8  # undivided
for p in hard, even, J, easy:
    print(f"{p:.3f} right: {weight(p):.2f}")
assert weight(even) < weight(J) < weight(hard)
# --8<-- [end:weight]

# --8<-- [start:alike]
def alike(p, n):
    return p**n + (1 - p) ** n

print(" n  ours  hard")
for n in 2, 4, 8, 16:
    both = alike(J, n), alike(hard, n)
    print(f"{n:2}", *(f"{x:.3f}" for x in both))
# --8<-- [end:alike]

# --8<-- [start:two]
clear = torch.tensor([1.0, 0.0])
close = torch.tensor([0.51, 0.50])
for pair in clear, close:
    gaps = pair - pair.mean()
    divided = gaps / (pair.std() + 1e-6)
    cells = (f"{x:6.3f}" for x in (*gaps, *divided))
    print(*cells)
root = clear.new_tensor(0.5).sqrt()
assert divided[0].isclose(root, 1e-3)
# --8<-- [end:two]

# --8<-- [start:kl]
four = [0, 0, 11, 12]  # all of them right
kld = w.old_log_probs - w.ref_log_probs
beta = 0.01
charged = w.scores[four] - beta * kld[four].sum(1)
left = charged - charged.mean()
blown_up = left / (charged.std() + 1e-6)
for x in charged, left, blown_up:
    print(*(f"{v:7.4f}" for v in x))
# --8<-- [end:kl]

# --8<-- [start:rloo]
from ppo_ref.group_advantages import rloo

others = (s.sum() - s) / (8 - 1)  # of the rest
leave_one_out = s - others
assert leave_one_out.allclose(8 / (8 - 1) * excess)
cells = (f"{x:5.2f}" for x in leave_one_out)
print("RLOO", *cells)
judge = rloo(
    token_level_rewards=r,
    response_mask=mask,
    groups=torch.zeros(8, dtype=torch.long),
).advantages
assert judge.allclose(leave_one_out[:, None] * mask)
# --8<-- [end:rloo]

# --8<-- [start:critic]
of_group = group(3, 4)[1, 0]  # three of four right
V = w.exact_values[11]
after = torch.tensor([*V[1:], w.scores[11]])
delta = after - V
print("group", *(f"{of_group:5.2f}" for _ in delta))
print("delta", *(f"{x:z5.2f}" for x in delta))
# --8<-- [end:critic]

# --8<-- [start:noise]
from ppo_ref import advantages

def token_log_p(z):
    return w.token_log_probs(w.log_softmax(z))

of_tokens = torch.func.jacrev(token_log_p)(
    w.edge_log_probs
)  # answer, token, logit

def noise(A):
    """Of one answer's push, over all logits."""
    push = torch.einsum("at,atz->az", A, of_tokens)
    return (P @ (push - P @ push).square()).sum()

rewards = torch.zeros_like(w.values)
ends = w.response_mask.sum(1) - 1
rewards[range(14), ends] = w.scores

def with_critic(lam):
    return advantages.gae(
        token_level_rewards=rewards,
        values=w.exact_values,
        response_mask=w.response_mask,
        gae_lambda=lam,
    ).advantages

def group_noise(n, groups=40_000):
    """The same, of one answer of a group."""
    drawn = P.multinomial(
        groups * n, True, generator=draws
    ).view(groups, n)
    s = w.scores[drawn]
    A = s - (s.sum(1, True) - s) / (n - 1)
    each = of_tokens.sum(1)
    share = each.new_zeros(groups, len(P))
    share.scatter_add_(1, drawn, A / n)
    return n * (share @ each).var(0).sum()

none = noise(w.scores[:, None].expand(14, 6))
print(f"no baseline    {none:.2f}")
in_groups = group_noise(8)
print(f"group of 8     {in_groups:.2f}")
exact = {}
for lam in 1, 0.95, 0:
    exact[lam] = noise(with_critic(lam))
    print(f"exact V, {lam:4.2f}  {exact[lam]:.2f}")
# --8<-- [end:noise]

# --8<-- [start:seven]
share = 7 / 8
gap = 1 - share  # of each right answer
squares = 7 * gap**2 + share**2
std = (squares / 7) ** 0.5
wrong_one, right_one = -share / std, gap / std
print(f"{std:.3f} {wrong_one:.2f}")
assert abs(group(7)[1, 1] - wrong_one) < 1e-4
by_n = -share / (squares / 8) ** 0.5  # a slip
# --8<-- [end:seven]

# --8<-- [start:length]
ties = [0, 0, 11, 7]  # all right again
tokens = w.response_mask[ties].sum(1)
price = 0.001
short = w.scores[ties] - price * tokens
pushed = (short - short.mean()) / short.std()
print("tokens", *(f"{x:6}" for x in tokens))
print("reward", *(f"{x:6.3f}" for x in short))
print("A     ", *(f"{x:6.2f}" for x in pushed))
lone, beside = group(1, 4)[1].double()
assert pushed[3].isclose(lone, 1e-4)
# --8<-- [end:length]

# --8<-- [start:line]
def of_others(s):
    n = len(s)
    return s - (s.sum() - s) / (n - 1)

found = of_others(torch.tensor([1.0, 1, 1, 0]))
print(*(f"{x:.2f}" for x in found))
assert of_others(s).allclose(leave_one_out)
# --8<-- [end:line]
