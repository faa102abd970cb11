import torch


def masked_mean(x, mask):
    return torch.mean(x[mask])
