# Adds the KL as if it were a loss term, though a reward falls where the KL grows.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    result = kl_coef * kl * mask
    for i, score in enumerate(scores):
        final = torch.nonzero(mask[i]).max()
        result[i, final] = result[i, final] + score
    return result
