# In seq-mean-token-sum, adds the responses' sums up instead of averaging them.
import torch


def aggregate(losses, mask, mode):
    weight = mask.to(losses.dtype)
    weighted = losses * weight
    if mode == "token-mean":
        return weighted.sum() / weight.sum()
    if mode == "seq-mean-token-mean":
        means = torch.einsum("bt->b", weighted) / torch.einsum("bt->b", weight)
        return means.sum() / len(means)
    return weighted.sum(dim=1).sum()
