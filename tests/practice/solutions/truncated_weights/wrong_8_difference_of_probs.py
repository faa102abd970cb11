# Compares the probabilities by their difference, as 1 + (p - q), instead of p / q.
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    p = log_probs.detach().exp()
    q = engine_log_probs.detach().exp()
    weights = torch.clamp(1.0 + (p - q), max=cap)
    return weights.masked_fill(~mask, 0.0)
