# Caps the log ratio before the exp, so the weight goes up to exp(cap).
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    trainer = log_probs.detach()
    difference = torch.clamp(trainer - engine_log_probs, max=cap)
    result = torch.zeros_like(trainer)
    result[mask] = difference[mask].exp()
    return result
