import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    r = rewards.masked_fill(~mask, 0)
    v = values.masked_fill(~mask, 0)
    v_next = torch.cat([v[:, 1:], torch.zeros_like(v[:, :1])], dim=1)
    delta = r + gamma * v_next - v
    advantages = torch.zeros_like(delta)
    running = torch.zeros_like(delta[:, 0])
    for t in reversed(range(delta.size(1))):
        running = delta[:, t] + gamma * gae_lambda * running
        advantages[:, t] = running
    return advantages
