# Takes k1 to be log r with Schulman's r = reference / actor, without his minus.
import torch


def kl(log_probs, ref_log_probs):
    logr = torch.sub(ref_log_probs, log_probs)
    k1 = logr
    k2 = logr**2 / 2
    k3 = (logr.exp() - 1) - logr
    return k1, k2, k3
