import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    last = mask & ~torch.nn.functional.pad(mask[:, 1:], (0, 1))
    return torch.where(mask, scores[:, None] * last - kl_coef * kl, 0)
