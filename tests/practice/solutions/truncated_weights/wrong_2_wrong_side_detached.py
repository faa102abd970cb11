# Detaches the engine's log-probs, which have no gradient, instead of the trainer's.
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    importance = torch.exp(log_probs - engine_log_probs.detach())
    importance = torch.clamp(importance, max=cap)
    return importance.masked_fill(~mask, 0.0)
