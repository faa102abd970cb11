# Uses the population standard deviation, divided by n, instead of n - 1.
import torch


def group_advantages(scores, groups):
    adv = torch.zeros_like(scores)
    for prompt in torch.unique(groups):
        idx = torch.nonzero(groups == prompt).squeeze(-1)
        rewards = scores[idx]
        if rewards.max() > rewards.min():
            std = rewards.std(unbiased=False)
            adv[idx] = (rewards - rewards.mean()) / (std + 1e-6)
    return adv
