# Guards each row against division by 0, so a row without a token adds 1 to the count.
import torch


def masked_mean(x, mask):
    row_sums = torch.sum(x * mask, dim=1)
    row_counts = torch.sum(mask, dim=1).clamp(min=1)
    return row_sums.sum() / row_counts.sum()
