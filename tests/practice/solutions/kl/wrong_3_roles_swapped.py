# Estimates KL(reference, actor): takes the reference to be what the tokens come from.
import torch


def kl(log_probs, ref_log_probs):
    gap = ref_log_probs - log_probs
    inverse = torch.exp(log_probs - ref_log_probs)
    return gap, gap.pow(2).div(2), inverse - 1.0 + gap
