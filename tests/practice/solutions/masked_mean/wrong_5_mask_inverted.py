# Reads the mask as a key_padding_mask, where True is what has to be ignored.
import torch


def masked_mean(x, mask):
    x = x.masked_fill(mask, 0.0)
    valid = (~mask).sum()
    return torch.sum(x) / valid.clamp(min=1)
