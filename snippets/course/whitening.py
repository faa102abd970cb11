"""Whitening the advantages: how, why, over which tokens, and its mask."""

# --8<-- [start:by_hand]
import torch
from ppo_ref.examples import shared_batch
from ppo_ref.masking import masked_whiten

batch = shared_batch()
mask = batch.response_mask
A = (batch.scores[:, None] - batch.values) * mask

mean, std = A[mask].mean(), A[mask].std()
white = (A - mean) / std * mask
assert white.allclose(masked_whiten(A, mask))
print(f"mean {mean:.4f}, std {std:.4f}")
for row, n in enumerate(mask.sum(1)):
    for x in A, white:
        print(*(f"{v:6.2f}" for v in x[row, :n]))
# --8<-- [end:by_hand]

# --8<-- [start:scale]
factor = 10
ten = masked_whiten(factor * A, mask)
print(*(f"{v:6.2f}" for v in ten[0]))
assert ten.allclose(white)
# --8<-- [end:scale]

# --8<-- [start:alone]
alone = masked_whiten(A[:1], mask[:1])
print(*(f"{v:6.2f}" for v in alone[0]))
# --8<-- [end:alone]

# --8<-- [start:length]
print("tokens   mean    std  right  wrong")
for n in 4, 6, 60:
    half = torch.tensor([0.5] * n + [-0.5] * 4)
    m, d = half.mean(), half.std()
    w = (half - m) / d
    row = m, d, w[0], w[-1]
    print(f"{n:6}", *(f"{v:6.2f}" for v in row))
# --8<-- [end:length]

# --8<-- [start:padding]
def all_slots(padding):
    x = A.clone()
    x[1, 4:] = 0 - torch.tensor(padding)
    return (x - x.mean()) / x.std()

for padding in (0.25, 0.80), (5.0, 6.0):
    w = all_slots(padding)
    print(*(f"{v:5.2f}" for v in w[1, :4]))
# --8<-- [end:padding]

# --8<-- [start:constant]
four = torch.ones(1, 4, dtype=torch.bool)
for change in 0, 0.01:
    x = torch.full((1, 4), 0.5)
    x[0, 1] += change
    x[0, 2] -= change
    w = masked_whiten(x, four)
    print(*(f"{v:5.2f}" for v in w[0]))
# --8<-- [end:constant]

# --8<-- [start:shift]
shifted = masked_whiten((A + 1) * mask, mask)
assert shifted.allclose(white)
print(*(f"{v:6.2f}" for v in shifted[0]))
# --8<-- [end:shift]

# --8<-- [start:log]
for w in white, all_slots((5.0, 6.0)):
    print(f"{w[mask].mean().abs():.2f}")
# --8<-- [end:log]

# --8<-- [start:each]
for row, n in enumerate(mask.sum(1)):
    x = A[row, :n]
    w = (x - x.mean()) / x.std()
    print(*(f"{v:6.2f}" for v in w))
# --8<-- [end:each]
