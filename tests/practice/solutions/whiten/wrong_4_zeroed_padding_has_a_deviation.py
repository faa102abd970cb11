# Zeroes the padding before the shift, so each padded slot adds mean**2 to the variance.
import torch


def whiten(x, mask):
    n = mask.sum()
    x = x.masked_fill(~mask, 0.0)
    mu = x.sum() / n
    deviations = x - mu
    sigma2 = deviations.square().sum() / (n - 1)
    return (deviations / torch.sqrt(sigma2 + 1e-8)).masked_fill(~mask, 0.0)
