# Averages both losses first and takes the larger average, not each token's larger one.
import torch


def value_loss(values, old_values, returns, mask, clip):
    n_tokens = mask.sum()
    clipped = torch.clamp(values, old_values - clip, old_values + clip)
    loss_plain = (((values - returns) ** 2) * mask).sum() / n_tokens
    loss_clipped = (((clipped - returns) ** 2) * mask).sum() / n_tokens
    return 0.5 * torch.max(loss_plain, loss_clipped)
