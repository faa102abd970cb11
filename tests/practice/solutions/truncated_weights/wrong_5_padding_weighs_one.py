# Masks the log ratio with 0 and forgets that exp makes a weight of 1 out of it.
import torch


@torch.no_grad()
def truncated_weights(log_probs, engine_log_probs, mask, cap):
    log_ratio = (log_probs - engine_log_probs).masked_fill(~mask, 0.0)
    return torch.exp(log_ratio).clamp(max=cap)
