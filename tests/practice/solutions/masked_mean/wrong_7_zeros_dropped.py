# Counts the nonzero numbers after masking, so a token whose number is 0 is not counted.
import torch


def masked_mean(x, mask):
    masked = torch.where(mask, x, torch.zeros_like(x))
    count = torch.count_nonzero(masked).clamp(min=1)
    return masked.sum() / count
