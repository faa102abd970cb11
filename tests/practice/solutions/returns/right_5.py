import torch


def discounted_tail(numbers, gamma):
    if len(numbers) == 1:
        return numbers
    later = discounted_tail(numbers[1:], gamma)
    return torch.cat([numbers[:1] + gamma * later[:1], later])


def returns(rewards, mask, gamma):
    out = torch.zeros_like(rewards)
    for i, length in enumerate(mask.sum(1).tolist()):
        out[i, :length] = discounted_tail(rewards[i, :length], gamma)
    return out
