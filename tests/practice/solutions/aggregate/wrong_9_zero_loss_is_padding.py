# Counts the nonzero masked losses, so a token whose loss is exactly 0 is left out.
import torch


def aggregate(losses, mask, mode):
    masked = losses.masked_fill(~mask, 0.0)
    counts = torch.count_nonzero(masked, dim=1)
    if mode == "token-mean":
        return masked.sum() / counts.sum().clamp(min=1)
    sums = masked.sum(dim=1)
    if mode == "seq-mean-token-mean":
        return (sums / counts.clamp(min=1)).mean()
    return sums.mean()
