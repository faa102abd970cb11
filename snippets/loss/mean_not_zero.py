"""Whitened advantages: the mean over tokens is 0, the mean over answers is not."""

# --8<-- [start:whitened]
import torch
from ppo_ref.masking import masked_whiten

def whitened(A, lengths):  # over all tokens
    n = torch.tensor(lengths)
    mask = torch.arange(int(n.max())) < n[:, None]
    A = torch.tensor(A)
    tokens = A[:, None].expand(mask.shape)
    white = masked_whiten(tokens, mask)
    mean_t = white[mask].mean()
    mean_a = white[:, 0].mean()
    rows = ("before", A), ("after", white[:, 0])
    for name, row in rows:
        cells = (f"{x:5.2f}" for x in row)
        print(f"{name:6}", *cells)
    print(f"mean over tokens  {mean_t:z.2f}")
    print(f"mean over answers {mean_a:z.2f}")
    assert mean_t.abs() < 1e-6 < mean_a.abs()
    return tokens[mask], mean_a

lengths = [2, 20, 4, 30]
before, over_answers = whitened(
    [0.5, -0.5, 0.5, -0.5], lengths
)
middle, spread = before.mean(), before.std()
bad = before.min()
# --8<-- [end:whitened]

# --8<-- [start:flipped]
before, _ = whitened(
    [0.9, 0.1, -0.5, -0.5], [30, 4, 4, 4]
)
second = before[30]  # of the second answer
assert 0 < second < before.mean()
# --8<-- [end:flipped]

# --8<-- [start:accuracy]
import torch
from ppo_ref.masking import masked_whiten

A = torch.tensor([0.5, -0.5, 0.5, -0.5]).double()
n = torch.tensor([2, 20, 4, 30])
mask = torch.arange(30) < n[:, None]
A = A[:, None].expand(mask.shape)
white = masked_whiten(A, mask)
mean = white[:, 0].mean()
print(f"mean over answers {mean:.4f}")
assert mean < 1e-9, "no rounding error"
# --8<-- [end:accuracy]
