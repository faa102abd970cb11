import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    log_ratio = log_probs.detach() - engine_log_probs
    weights = torch.exp(log_ratio).clamp(max=cap)
    return weights.masked_fill(~mask, 0.0)
