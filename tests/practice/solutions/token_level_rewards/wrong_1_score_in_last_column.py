# Puts the score into the last column, which is padding in most of the responses.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    token_rewards = -kl_coef * kl
    token_rewards[:, -1] += scores
    return torch.where(mask, token_rewards, torch.zeros_like(token_rewards))
