# Gives the score of the response to each of its tokens, not to the last one only.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    penalized = torch.unsqueeze(scores, -1) - kl_coef * kl
    return penalized.masked_fill(~mask, 0.0)
