# Believes that clipping the ratio is all of it, and leaves out the min with ratio * A.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    log_ratio = (log_probs - old_log_probs)[mask]
    importance = torch.exp(log_ratio).clamp(min=1 - clip, max=1 + clip)
    return -(importance * advantages[mask]).mean()
