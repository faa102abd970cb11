"""Tokens rejected: divided by all tokens, or by those that are kept."""

# --8<-- [start:comment]
import torch
w = torch.tensor([1.11, 0.22, 2.23, 0.00, 1.35])
low, high = 0.5, 2
kept = (w > low) & (w < high)
print(5, w / 5)  # nothing rejected
print(5, w * kept / 5)
print(2, w * kept / kept.sum())
assert 5 / kept.sum() == 2.5  # times as much
# --8<-- [end:comment]

# --8<-- [start:biased]
from itertools import product

trainer, engine = 0.5, 0.75  # of A, token 1
w_a = trainer / engine
w_b = (1 - trainer) / (1 - engine)
assert 0.5 < w_a < 2 <= w_b  # B is rejected

def share(batch):  # how often the engine makes it
    a, b = sum(batch), len(batch) - sum(batch)
    return engine**a * (1 - engine) ** b

over_all = over_kept = 0.0
for pair in product(range(2), repeat=2):
    k = sum(pair)  # kept: every A
    over_all += share(pair) * k * w_a / 2
    if k:
        over_kept += share(pair) * k * w_a / k
print(f"wanted           {trainer:.3f}")
print(f"over all tokens  {over_all:.3f}")
print(f"over kept tokens {over_kept:.3f}")
assert over_all == trainer < over_kept
# --8<-- [end:biased]

# --8<-- [start:batches]
for n in 2, 4, 8:  # tokens sampled
    part = 0.0
    for batch in product(range(2), repeat=n):
        if k := sum(batch):
            part += share(batch) * k * w_a / k
    print(f"{n} tokens: {part:.3f}")
assert over_kept < part < w_a
# --8<-- [end:batches]

# --8<-- [start:none]
import torch

none = torch.zeros(5).bool()  # of five is kept
total = (torch.ones(5) * none).sum()
means = total / 5, total / none.sum()
print(*means)
assert means[0] == 0 and means[1].isnan()
# --8<-- [end:none]
