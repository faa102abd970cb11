# Thinks that discounts can always be divided out again, which gamma = 0 does not allow.
import torch


def returns(rewards, mask, gamma):
    time = rewards.shape[1]
    powers = rewards.new_tensor([gamma**t for t in range(time)])
    weighted = torch.where(mask, rewards, torch.zeros_like(rewards)) * powers
    tail = torch.flip(torch.cumsum(torch.flip(weighted, [1]), 1), [1])
    return torch.where(mask, tail / powers, torch.zeros_like(tail))
