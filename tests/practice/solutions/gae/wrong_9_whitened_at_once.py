# Thinks that whitening belongs to GAE itself, as in trainers that do both in one call.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    rewards = torch.where(mask, rewards, torch.zeros_like(rewards))
    values = torch.where(mask, values, torch.zeros_like(values))
    lastgaelam = torch.zeros_like(rewards[:, 0])
    nextvalues = torch.zeros_like(rewards[:, 0])
    reversed_advantages = []
    for t in reversed(range(rewards.shape[1])):
        delta = rewards[:, t] + gamma * nextvalues - values[:, t]
        lastgaelam = delta + gamma * gae_lambda * lastgaelam
        reversed_advantages.append(lastgaelam)
        nextvalues = values[:, t]
    advantages = torch.stack(reversed_advantages[::-1], dim=1)
    kept = advantages[mask]
    spread = kept.std() if len(kept) > 1 else torch.ones_like(kept[0])
    whitened = (advantages - kept.mean()) / (spread + 1e-8)
    return torch.where(mask, whitened, torch.zeros_like(whitened))
