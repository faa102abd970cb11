import torch


def kl(log_probs, ref_log_probs):
    log_ratio = ref_log_probs - log_probs
    ratio = torch.exp(log_ratio)
    k1 = -log_ratio
    k2 = log_ratio**2 / 2
    k3 = (ratio - 1) - log_ratio
    return k1, k2, k3
