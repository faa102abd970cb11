# Reduces over time only, so it gives one mean per response and no scalar.
import torch


def masked_mean(x, mask):
    kept = torch.where(mask, x, torch.zeros_like(x))
    n_tokens = mask.sum(-1).clamp(min=1)
    return kept.sum(-1) / n_tokens
