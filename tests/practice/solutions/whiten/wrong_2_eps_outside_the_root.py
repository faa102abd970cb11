# Adds the epsilon to the standard deviation, not to the variance under the root.
import torch


def whiten(x, mask):
    valid = x[mask]
    whitened = torch.zeros_like(x)
    whitened[mask] = (valid - valid.mean()) / (valid.std() + 1e-8)
    return whitened
