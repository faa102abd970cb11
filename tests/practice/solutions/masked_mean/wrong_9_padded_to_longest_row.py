# Takes only slots beyond the longest response for padding and divides by the rest.
import torch


def masked_mean(x, mask):
    total, longest = 0.0, 0
    for row, keep in zip(x.unbind(0), mask.unbind(0)):
        total = total + torch.sum(row[keep])
        longest = max(longest, int(keep.sum()))
    return total / (len(x) * longest)
