# Slices up to the length inclusive, so the slot after the last token is received too.
import torch


def returns(rewards, mask, gamma):
    out = torch.zeros_like(rewards)
    for i in range(rewards.shape[0]):
        length = int(mask[i].sum())
        end = min(length, rewards.shape[1] - 1)
        future = 0.0
        for t in range(end, -1, -1):
            future = rewards[i, t] + gamma * future
            if t < length:
                out[i, t] = future
    return out
