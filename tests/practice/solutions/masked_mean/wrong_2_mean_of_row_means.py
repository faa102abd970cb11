# Averages each response first, so a token of a short response weighs more.
import torch


def masked_mean(x, mask):
    m = mask.to(x.dtype)
    totals = (x * m).sum(dim=1)
    counts = m.sum(dim=1)
    has_tokens = counts > 0
    per_response = totals[has_tokens] / counts[has_tokens]
    return torch.mean(per_response)
