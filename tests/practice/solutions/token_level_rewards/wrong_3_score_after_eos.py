# Takes the length for the index of the last token, so the score lands one slot late.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    rewards = torch.where(mask, -kl_coef * kl, torch.zeros_like(kl))
    ends = mask.sum(dim=1).clamp(max=mask.shape[1] - 1)
    rewards[torch.arange(mask.shape[0]), ends] += scores
    return rewards
