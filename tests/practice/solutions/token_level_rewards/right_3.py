import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    left = mask.flip(1).cumsum(1).flip(1)
    is_last = (mask & (left == 1)).to(scores.dtype)
    bonus = torch.einsum("b,bt->bt", scores, is_last)
    return bonus - kl_coef * kl * mask
