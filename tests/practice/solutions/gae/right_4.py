import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    out, a, v = torch.zeros_like(rewards), 0, 0
    for t in range(mask.shape[1])[::-1]:
        a = rewards[:, t] + gamma * v - values[:, t] + gamma * gae_lambda * a
        a, v = torch.where(mask[:, t], a, 0), torch.where(mask[:, t], values[:, t], 0)
        out[:, t] = a
    return out
