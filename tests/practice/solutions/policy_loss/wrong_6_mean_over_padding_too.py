# Zeroes the padding but then divides by all positions instead of the tokens that count.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    zero = torch.zeros_like(log_probs)
    ratio = torch.where(mask, log_probs - old_log_probs, zero).exp()
    adv = torch.where(mask, advantages, zero)
    surrogate = torch.minimum(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)
    return -surrogate.mean()
