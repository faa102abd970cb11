# Thinks a TD error needs a next column, so a token in the last column has no advantage.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    rew = rewards.masked_fill(~mask, 0)
    val = values.masked_fill(~mask, 0)
    td = rew[:, :-1] + gamma * val[:, 1:] - val[:, :-1]
    adv = torch.zeros_like(rew)
    for t in reversed(range(td.shape[1])):
        adv[:, t] = td[:, t] + gamma * gae_lambda * adv[:, t + 1]
    return adv
