# Weighs k1 with p as in the sum over the vocabulary, though tokens are sampled already.
import torch


def kl(log_probs, ref_log_probs):
    p = log_probs.exp()
    difference = log_probs - ref_log_probs
    k1 = p * difference
    k2 = 0.5 * difference**2
    k3 = torch.exp(-difference) - 1 + difference
    return k1, k2, k3
