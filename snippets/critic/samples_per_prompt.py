"""How many answers to sample for each prompt, when their number in all is fixed."""

# --8<-- [start:noise]
import torch
from math import comb

q = 0.25  # the chance of a right answer
best = q * (1 - q)  # if the baseline were exactly q
factors = {}
print("answers each  prompts  noise")
for n in 2, 4, 8, 16:
    square = 0.0  # of one advantage, on average
    for k in range(n + 1):  # of n are right
        chance = q**k * (1 - q) ** (n - k)
        chance *= comb(n, k)
        s = (torch.arange(n) < k).double()
        A = s - (s.sum() - s) / (n - 1)  # RLOO
        square += chance * A.square().mean().item()
    factors[n] = square / best
    print(f"{n:12}{64 // n:9}{factors[n]:7.2f}")
    assert abs(factors[n] - n / (n - 1)) < 1e-9
# --8<-- [end:noise]

# --8<-- [start:alike]
from itertools import product

def alike(p, n):  # all right, or all wrong
    return p**n + (1 - p) ** n

sizes = 2, 4, 8, 16
print("right", *(f"{n:4}" for n in sizes))
for p in 0.02, 0.1, 0.5, 0.9:
    cells = (f"{alike(p, n):4.0%}" for n in sizes)
    print(f"{p:5.0%}", *cells)
groups = list(product((0, 1), repeat=4))  # all 16
of_four = [
    p ** sum(group) * (1 - p) ** (4 - sum(group))
    for group in groups
    if len(set(group)) == 1
]
assert abs(sum(of_four) - alike(p, 4)) < 1e-12
# --8<-- [end:alike]

# --8<-- [start:world]
import torch

draws = torch.Generator().manual_seed(0)
drawn = torch.rand(72, 8, generator=draws).double()
drawn = 4 * drawn - 2
prompts, keys = drawn[:64], drawn[64:]
right = (prompts @ keys.T).argmax(1)  # of 8 answers

adam, sgd = torch.optim.Adam, torch.optim.SGD

def trained(
    n, count, rates, std=True, scale=1, opt=adam
):
    """A row of numbers for each learning rate."""
    g = torch.Generator().manual_seed(1)
    W = [
        prompts.new_zeros(16, 8, 8).requires_grad_()
        for _ in rates  # of 16 seeds each
    ]
    optimizer = opt([
        {"params": [w], "lr": lr}
        for w, lr in zip(W, rates)
    ])
    silent = first = 0
    for _ in range(40):
        order = torch.rand(16, 64, generator=g)
        asked = order.argsort(1)[:, :count]
        logits = prompts[asked] @ torch.stack(W)
        log_p = logits.log_softmax(-1)
        of = log_p.detach().exp().flatten(0, -2)
        drawn = of.multinomial(n, True, generator=g)
        drawn = drawn.view(len(W), 16, count, n)
        s = drawn == right[asked][..., None]
        s = s.double()
        A = s - s.mean(-1, keepdim=True)
        spread = s.std(-1, keepdim=True)
        if std:
            A = A / (spread + 1e-6)
        equal = (spread == 0).double()
        silent += equal.mean((1, 2, 3)) / 40
        of_drawn = log_p.gather(-1, drawn)
        loss = -scale * (of_drawn * A).mean((2, 3))
        optimizer.zero_grad()
        loss.sum().backward()  # runs do not mix
        norms = W[0].grad.norm(dim=(1, 2))
        first = first or norms.mean()
        optimizer.step()
    p = (prompts @ torch.stack(W)).softmax(-1)
    score = p[..., range(64), right].mean((1, 2))
    told = score.tolist(), silent.tolist()
    return *told, first.item()
# --8<-- [end:world]

# --8<-- [start:budget]
def row(n, count):
    scores, silent, _ = trained(n, count, rates)
    score, share = max(zip(scores, silent))
    print(f"{n:2}{count:9}{n * count:9}", end="")
    print(f"{score:7.2f}{share:8.0%}")

rates = 0.1, 0.2, 0.4  # each row at its best one
print(" n  prompts  answers  score  silent")
for n in 2, 4, 8, 16, 32:
    row(n, 64 // n)
for n in 2, 4, 16, 32:
    row(n, 8)
# --8<-- [end:budget]

# --8<-- [start:rate]
variants = {
    "GRPO": {},
    "Dr. GRPO": {"std": False},
    "Dr. GRPO / 8": {"std": False, "scale": 1 / 8},
}
for title, opt, choices in (
    ("SGD", sgd, (4, 8, 16, 64)),
    ("Adam", adam, (0.05, 0.1, 0.2, 0.4)),
):
    cells = (f"{lr:5}" for lr in choices)
    print(f"{title:13}norm", *cells)
    for name, change in variants.items():
        scores, _, norm = trained(
            8, 8, choices, opt=opt, **change
        )
        cells = (f"{x:5.2f}" for x in scores)
        print(f"{name:13}{norm:.2f}", *cells)
# --8<-- [end:rate]

# --8<-- [start:updates]
print("answers", *(f"{lr:5}" for lr in rates))
for answers in 16, 64, 256:
    scores, _, _ = trained(4, answers // 4, rates)
    cells = (f"{score:5.2f}" for score in scores)
    print(f"{answers:7}", *cells)
# --8<-- [end:updates]

# --8<-- [start:comment]
import torch
for scores in (1.0, 0.0), (0.51, 0.50), (1.0, 1.0):
    x = torch.tensor(scores)
    A = (x - x.mean()) / (x.std() + 1e-6)
    print(scores, *(f"{a:6.3f}" for a in A))
# --8<-- [end:comment]

# --8<-- [start:judge]
from ppo_ref.group_advantages import grpo

r = x[:, None]  # the last pair, one token each
judge = grpo(
    token_level_rewards=r,
    response_mask=r == r,
    groups=torch.tensor([7, 7]),
)
assert judge.advantages[:, 0].equal(A)
# --8<-- [end:judge]

# --8<-- [start:powerless]
from math import comb, sqrt

p = 0.18  # the share of right answers in that run
power = {}
for n in 2, 8:
    mean = square = 0.0  # of one group's gradient
    for k in range(n + 1):  # of n are right
        chance = p**k * (1 - p) ** (n - k)
        chance *= comb(n, k)
        slope = k / n * (1 - k / n) * n / (n - 1)
        mean += chance * slope
        square += chance * slope**2
    noise = sqrt(square - mean**2)
    power[n] = mean / noise * sqrt(64 / n)
print(f"n=2 {power[2]:.1f}  n=8 {power[8]:.1f}")
assert power[2] < 1, "pairs do have power"
# --8<-- [end:powerless]
