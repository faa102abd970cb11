# Squares the ratio minus 1 in k2, not the log of the ratio.
import torch


def kl(log_probs, ref_log_probs):
    r = torch.exp(ref_log_probs - log_probs)
    k1 = log_probs - ref_log_probs
    k2 = 0.5 * (r - 1) ** 2
    k3 = (r - 1) + k1
    return k1, k2, k3
