"""Whitened advantages: the mean over tokens is 0, the mean over answers is not."""

# --8<-- [start:whitened]
import torch
from ppo_ref.masking import masked_whiten

def whitened(A, lengths):  # over tokens
    A = torch.tensor(A).double()
    n = torch.tensor(lengths)
    mask = torch.arange(int(n.max())) < n[:, None]
    tokens = A[:, None].expand(mask.shape)
    white = masked_whiten(tokens, mask)
    return white[:, 0], white[mask].mean()

for A, lengths in (
    ([0.5, -0.5, 0.5, -0.5], [2, 20, 4, 30]),
    ([0.9, 0.1, -0.5, -0.5], [30, 4, 4, 4]),
):
    answers, tokens = whitened(A, lengths)
    print("A       ", *(f"{x:5.2f}" for x in A))
    cells = (f"{x:5.2f}" for x in answers)
    print("whitened", *cells)
    mean = answers.mean()
    print(f"mean of answers {mean:.2f}", end=", ")
    print(f"of tokens {tokens:z.2f}")
    assert tokens.abs() < 1e-12 < mean.abs()
# --8<-- [end:whitened]

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
