# Assumes that losses are 0 where the mask is False, and uses it only for the counts.
import torch


def aggregate(losses, mask, mode):
    lengths = mask.sum(dim=1)
    totals = losses.sum(dim=1)
    if mode == "token-mean":
        return totals.sum() / lengths.sum()
    if mode == "seq-mean-token-mean":
        return torch.mean(totals / lengths)
    return torch.mean(totals)
