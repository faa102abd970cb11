# In token-mean, divides by all positions of the padded batch instead of the tokens.
import torch


def aggregate(losses, mask, mode):
    masked = torch.where(mask, losses, torch.zeros_like(losses))
    if mode == "token-mean":
        return masked.mean()
    per_seq = masked.sum(dim=1)
    if mode == "seq-mean-token-mean":
        per_seq = per_seq / mask.sum(dim=1)
    return per_seq.mean()
