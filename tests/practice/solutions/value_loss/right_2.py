import torch


def value_loss(values, old_values, returns, mask, clip):
    clipped = torch.clamp(values, old_values - clip, old_values + clip)
    errors = torch.max((values - returns) ** 2, (clipped - returns) ** 2)
    return 0.5 * (errors * mask).sum() / mask.sum()
