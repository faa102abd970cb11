import torch


def masked_mean(x, mask):
    kept = torch.where(mask, x, torch.zeros_like(x))
    return kept.sum() / mask.sum()
