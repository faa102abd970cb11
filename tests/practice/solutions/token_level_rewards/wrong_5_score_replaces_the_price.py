# Writes the score over the last token's reward, so the KL of that token costs nothing.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    reward = (-kl_coef * kl).masked_fill(~mask, 0.0)
    last_index = (mask.sum(dim=-1) - 1).unsqueeze(-1)
    return torch.scatter(reward, 1, last_index, scores.unsqueeze(-1))
