import torch


def returns(rewards, mask, gamma):
    g = [torch.zeros_like(rewards[:, 0])]
    for r, m in zip(reversed(rewards.unbind(1)), reversed(mask.unbind(1))):
        g.append(torch.where(m, r + gamma * g[-1], 0))
    return torch.stack(g[:0:-1], dim=1)
