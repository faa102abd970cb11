import torch


def whiten(x, mask):
    n = mask.sum()
    mean = x.masked_fill(~mask, 0).sum() / n
    centred = (x - mean).masked_fill(~mask, 0)
    variance = centred.pow(2).sum() / (n - 1)
    return centred * torch.rsqrt(variance + 1e-8)
