# Takes mean and variance over all slots, padding too, and masks at the end only.
import torch


def whiten(x, mask):
    mean = x.mean()
    variance = x.var()
    normed = (x - mean) / torch.sqrt(variance + 1e-8)
    return normed * mask
