# Divides by the variance itself and forgets the root that makes it a scale.
import torch


def whiten(x, mask):
    values = x[mask].tolist()
    mean = sum(values) / len(values)
    var = sum((v - mean) ** 2 for v in values) / (len(values) - 1)
    return torch.where(mask, (x - mean) / (var + 1e-8), torch.zeros_like(x))
