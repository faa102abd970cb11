"""Dynamic sampling: what a filter for groups of equal scores does to the gradient."""

# --8<-- [start:equal]
from itertools import product
from math import prod

import torch

def prompt_with(p):  # over all groups of four
    kept = whole = rest = 0.0
    for g in product((0.0, 1.0), repeat=4):
        chance = prod(p if x else 1 - p for x in g)
        x = torch.tensor(g)
        A = x - x.mean()  # Dr. GRPO
        slope = x - p  # of log-prob, by the logit
        pull = chance * (A * slope).mean()
        whole += pull
        if len(set(g)) > 1:
            kept, rest = kept + chance, rest + pull
    return kept, whole, rest

chances = 0.05, 0.5, 0.95
exact = torch.tensor([*map(prompt_with, chances)])
kept, whole, rest = exact.T
print("right  survive  gradient", end="")
print("  of those only  refilled")
for p, row in zip(chances, exact):
    share, before, after = row
    times = after / kept.mean() / before
    print(f"{p:5}{share:9.3f}", end="")
    print(f"{before:10.4f}{after:15.4f}", end="")
    print(f"    x {times:.2f}")
assert rest.allclose(whole)
# --8<-- [end:equal]

# --8<-- [start:exactly]
for n in 6, 8:  # answers, all of the same score
    same = torch.full((n,), 0.1, dtype=torch.double)
    print(n, "are equal:", same.numpy().std() == 0)
# --8<-- [end:exactly]

# --8<-- [start:adam]
steps = []
for size in 0.0356, 0.0356 * 2.41:
    w = torch.zeros(1, requires_grad=True)
    adam = torch.optim.Adam([w], lr=0.1)
    w.grad = torch.tensor([size])
    adam.step()
    steps.append(w.detach())
    step = w.item()
    print(f"gradient {size:.4f}, step {step:.4f}")
assert steps[0].allclose(steps[1])
# --8<-- [end:adam]

# --8<-- [start:ablation]
from ppo_ref.group_advantages import dr_grpo

dropped = {}
for x in 0.0, 1.0:  # all four wrong, all right
    alike = torch.full((4, 1), x)
    A = dr_grpo(
        token_level_rewards=alike,
        response_mask=alike >= 0,
        groups=torch.zeros(4).long(),
    ).advantages
    dropped[x] = A.any().item()
    print(f"scores {x}: A", *A[:, 0].tolist())
lost = any(dropped.values())
assert not lost
# --8<-- [end:ablation]
