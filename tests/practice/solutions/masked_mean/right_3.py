import torch


def masked_mean(x, mask):
    weights = mask.to(x.dtype)
    total = torch.einsum("bt,bt->", x, weights)
    count = torch.einsum("bt->", weights)
    return total / count
