# Reads values as the state after each token, so each TD error is shifted by one slot.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    time = mask.shape[1]
    lengths = mask.sum(dim=1)
    running = torch.zeros_like(rewards[:, 0])
    advantages = torch.zeros_like(rewards)
    for t in range(time - 1, -1, -1):
        is_over = t >= lengths - 1
        after = torch.where(is_over, torch.zeros_like(running), values[:, t])
        before = values[:, t - 1] if t > 0 else torch.zeros_like(running)
        td_error = rewards[:, t] + gamma * after - before
        running = td_error + gamma * gae_lambda * running
        running = torch.where(mask[:, t], running, torch.zeros_like(running))
        advantages[:, t] = running
    return advantages
