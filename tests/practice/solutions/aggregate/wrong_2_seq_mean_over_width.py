# In seq-mean-token-mean, divides each response by the padded width, not its tokens.
import torch


def aggregate(losses, mask, mode):
    masked = losses.masked_fill(~mask, 0.0)
    if mode == "token-mean":
        return masked.sum() / mask.sum()
    if mode == "seq-mean-token-mean":
        return torch.mean(torch.mean(masked, dim=-1))
    return torch.mean(torch.sum(masked, dim=-1))
