# Uses the mask for the statistics only and leaves shifted numbers in the padding.
import torch


def whiten(x, mask):
    def masked_avg(y):
        return torch.where(mask, y, torch.zeros_like(y)).sum() / mask.sum()

    n = mask.sum()
    mean = masked_avg(x)
    var = masked_avg((x - mean) ** 2) * n / (n - 1)
    return (x - mean) / (var + 1e-8).sqrt()
