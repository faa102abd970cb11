# Subtracts k1 in k3 where the log ratio is subtracted, which is minus k1.
import torch


def kl(log_probs, ref_log_probs):
    k1 = log_probs - ref_log_probs
    k2 = 0.5 * k1**2
    r = torch.exp(-k1)
    k3 = r - 1 - k1
    return k1, k2, k3
