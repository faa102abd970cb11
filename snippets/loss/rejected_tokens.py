"""Tokens rejected: divided by all tokens, or by those that are kept."""

# --8<-- [start:comment]
import torch
w = torch.tensor([1.11, 0.22, 2.23, 0.00, 1.35])
kept = (w > 0.5) & (w < 2)
print(w / 5)  # nothing rejected
print(w * kept / 5)
print(w * kept / kept.sum())
# --8<-- [end:comment]

# --8<-- [start:rejected]
import torch
from ppo_ref.aggregation import token_mean

w = torch.tensor([[0.1, -1.5, 0.8, -10, 0.3]]).exp()
every = torch.ones(1, 5).bool()
low, high = 0.5, 2
kept = (w > low) & (w < high)  # two of five
print("weights", *(f"{x:.2f}" for x in w[0]))
over_all = token_mean(w * kept, every)
over_kept = token_mean(w, kept)
print(f"over all tokens  {over_all:.3f}")
print(f"over kept tokens {over_kept:.3f}")
kept_share = kept.float().mean()
assert over_all.isclose(over_kept * kept_share)
# --8<-- [end:rejected]

# --8<-- [start:biased]
import torch
from itertools import product

trainer, engine = 0.5, 0.75  # of token 1, not 0
w = [(1 - trainer) / (1 - engine), trainer / engine]
goal = [0.0, 0.0]
for pair in product(range(2), repeat=2):
    share = 1.0
    for token in pair:
        share *= engine if token else 1 - engine
    kept = [token for token in pair if w[token] < 2]
    for i, divisor in enumerate((2, len(kept))):
        if kept:
            part = sum(w[t] for t in kept) / divisor
            goal[i] += share * part
whole = trainer  # the kept token's part of the mean
print(f"wanted           {whole:.3f}")
print(f"over all tokens  {goal[0]:.3f}")
print(f"over kept tokens {goal[1]:.3f}")
assert goal[0] == whole and goal[1] > whole
# --8<-- [end:biased]

# --8<-- [start:batches]
for n in 2, 4, 8:  # tokens sampled
    part = 0.0
    for batch in product(range(2), repeat=n):
        k = sum(batch)  # kept: the tokens 1
        share = engine**k * (1 - engine) ** (n - k)
        part += share * w[1] * (k > 0)  # k w / k
    print(f"{n} tokens: {part:.3f}")
assert goal[1] < part < w[1]
# --8<-- [end:batches]

# --8<-- [start:none]
import torch

none = torch.zeros(5).bool()  # of five is kept
total = (torch.ones(5) * none).sum()
means = total / 5, total / none.sum()
print(*means)
assert means[0] == 0 and means[1].isnan()
# --8<-- [end:none]
