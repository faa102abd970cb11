# Averages within each response first, so tokens of short responses weigh more.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    ratio = torch.exp(log_probs - old_log_probs)
    bounded = torch.clamp(ratio, 1 - clip, 1 + clip)
    objective = torch.minimum(ratio * advantages, bounded * advantages)
    objective = objective.masked_fill(~mask, 0.0)
    lengths = mask.sum(dim=1)
    per_response = objective.sum(dim=1) / lengths.clamp(min=1)
    return -per_response[lengths > 0].mean()
