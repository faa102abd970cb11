# Starts the loop at T - 2, thinking the last column has no successor and so no return.
import torch


def returns(rewards, mask, gamma):
    r = rewards.masked_fill(~mask, 0.0)
    T = r.size(1)
    G = torch.zeros_like(r)
    for t in reversed(range(T - 1)):
        G[:, t] = r[:, t] + gamma * G[:, t + 1]
    return G
