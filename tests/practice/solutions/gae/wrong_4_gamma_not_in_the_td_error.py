# Leaves the next value undiscounted in the TD error, with gamma in the decay only.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    result = torch.zeros_like(values)
    for i in range(values.shape[0]):
        n = int(mask[i].sum())
        acc, v_next = 0.0, 0.0
        for t in reversed(range(n)):
            surprise = rewards[i, t] + v_next - values[i, t]
            acc = surprise + gamma * gae_lambda * acc
            v_next = values[i, t]
            result[i, t] = acc
    return result
