import torch


def returns(rewards, mask, gamma):
    clean = torch.where(mask, rewards, torch.zeros_like(rewards))
    out = torch.zeros_like(clean)
    carry = torch.zeros_like(clean[:, 0])
    for t in range(clean.shape[1] - 1, -1, -1):
        carry = clean[:, t] + gamma * carry
        out[:, t] = carry
    return out
