# Takes the KL of padding to be 0 already, so what stands there is charged unmasked.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    rewards = -kl_coef * kl
    eos_index = mask.long().sum(1) - 1
    bonus = torch.zeros_like(rewards)
    bonus.scatter_(1, eos_index[:, None], scores[:, None])
    return rewards + bonus
