# Clamps k3 to at most 10 for stability, as a trainer does, so it is biased far out.
import torch


def kl(log_probs, ref_log_probs):
    diff = ref_log_probs - log_probs
    ratio = torch.exp(diff)
    k3 = torch.clamp(ratio - diff - 1, min=-10, max=10)
    return -diff, 0.5 * diff.square(), k3
