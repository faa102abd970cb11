# Thinks that a KL cannot be negative, so an estimate of it is cut off at 0 too.
import torch


def kl(log_probs, ref_log_probs):
    delta = log_probs - ref_log_probs
    k1 = torch.clamp(delta, min=0.0)
    k2 = delta.square() / 2
    k3 = torch.exp(-delta) + delta - 1
    return k1, k2, k3
