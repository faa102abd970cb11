# Weighs n-step advantages by (1 - lambda) lambda**(n-1) but gives the end no remainder.
import torch


def n_step_advantage(rewards, values, t, n, gamma):
    total = sum(gamma**k * rewards[t + k] for k in range(n))
    bootstrap = values[t + n] if t + n < len(values) else 0.0
    return total + gamma**n * bootstrap - values[t]


def gae(rewards, values, mask, gamma, gae_lambda):
    out = torch.zeros_like(rewards)
    for i, length in enumerate(mask.sum(dim=1).tolist()):
        r, v = rewards[i, :length].tolist(), values[i, :length].tolist()
        for t in range(length):
            mixed = 0.0
            for n in range(1, length - t + 1):
                weight = (1 - gae_lambda) * gae_lambda ** (n - 1)
                mixed += weight * n_step_advantage(r, v, t, n, gamma)
            out[i, t] = mixed
    return out
