# Takes masked tokens to be zeros in the mean, so all slots of the batch are divided by.
import torch


def masked_mean(x, mask):
    zeroed = x.masked_fill(~mask, 0.0)
    return torch.mean(zeroed)
