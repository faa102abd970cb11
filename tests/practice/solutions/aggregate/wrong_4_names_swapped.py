# Reads token-mean as the mean of token means, and so swaps it with seq-mean-token-mean.
import torch


def aggregate(losses, mask, mode):
    rows = [row[keep] for row, keep in zip(losses, mask)]
    if mode == "token-mean":
        return torch.stack([row.mean() for row in rows]).mean()
    if mode == "seq-mean-token-mean":
        return torch.cat(rows).mean()
    return torch.stack([row.sum() for row in rows]).mean()
