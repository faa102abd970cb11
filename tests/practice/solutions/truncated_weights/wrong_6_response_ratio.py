# Gives every token the ratio of its whole response, the product of the token ratios.
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    gap = (log_probs - engine_log_probs).detach()
    gap = torch.where(mask, gap, torch.zeros_like(gap))
    response_gap = gap.sum(dim=1, keepdim=True)
    weight = torch.exp(response_gap).clamp(max=cap)
    return weight.expand_as(gap) * mask
