# Discounts each reward from the first token on, not from the token whose return it is.
import torch


def returns(rewards, mask, gamma):
    steps = torch.arange(rewards.shape[1], device=rewards.device)
    discounts = torch.pow(gamma, steps.to(rewards.dtype))
    discounted = torch.where(mask, rewards * discounts, torch.zeros_like(rewards))
    suffix = discounted.flip(1).cumsum(1).flip(1)
    return suffix * mask
