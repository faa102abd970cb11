import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    rewards = (-kl_coef * kl).masked_fill(~mask, 0.0)
    last = mask.sum(dim=1) - 1
    rows = torch.arange(len(scores), device=scores.device)
    rewards[rows, last] += scores
    return rewards
