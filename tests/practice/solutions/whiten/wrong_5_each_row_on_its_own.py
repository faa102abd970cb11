# Whitens each response with its own mean and variance, like a layer norm over time.
import torch


def whiten(x, mask):
    m = mask.to(x.dtype)
    n = m.sum(dim=1, keepdim=True)
    mean = (x * m).sum(dim=1, keepdim=True) / n.clamp(min=1)
    diff = (x - mean) * m
    var = (diff**2).sum(dim=1, keepdim=True) / (n - 1).clamp(min=1)
    return diff / torch.sqrt(var + 1e-8)
