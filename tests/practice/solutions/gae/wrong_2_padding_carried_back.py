# Masks the next value but not the running sum, so padding's TD errors are carried back.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    T = rewards.shape[1]
    advantages = torch.zeros_like(rewards)
    carry = torch.zeros_like(rewards[:, 0])
    for t in range(T - 1, -1, -1):
        if t + 1 < T:
            alive = mask[:, t + 1].to(values.dtype)
            next_values = values[:, t + 1] * alive
        else:
            next_values = torch.zeros_like(carry)
        td = rewards[:, t] + gamma * next_values - values[:, t]
        carry = td + gamma * gae_lambda * carry
        advantages[:, t] = carry
    return advantages * mask
