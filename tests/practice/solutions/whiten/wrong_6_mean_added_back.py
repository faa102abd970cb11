# Only scales: adds the mean again at the end, as trainers whiten rewards.
import torch


def whiten(x, mask):
    tokens = torch.masked_select(x, mask)
    mean, var = tokens.mean(), tokens.var(unbiased=True)
    scaled = (x - mean) * torch.rsqrt(var + 1e-8)
    scaled = scaled + mean
    return torch.where(mask, scaled, torch.zeros_like(scaled))
