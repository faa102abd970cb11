# Bootstraps at EOS with the value of the slot after it, which is padding.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    padded = torch.cat([values, torch.zeros_like(values[:, :1])], dim=1)
    deltas = rewards + gamma * padded[:, 1:] - padded[:, :-1]
    deltas = torch.where(mask, deltas, torch.zeros_like(deltas))
    last = torch.zeros_like(deltas[:, 0])
    out = []
    for t in reversed(range(deltas.shape[1])):
        last = deltas[:, t] + gamma * gae_lambda * last
        out.append(last)
    return torch.stack(out[::-1], dim=1)
