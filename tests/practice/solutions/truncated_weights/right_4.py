import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    return torch.exp(log_probs - engine_log_probs).clamp_max(cap).mul(mask).detach()
