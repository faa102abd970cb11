# Thinks a clipped token must go on learning, and lets the gradient pass the clamp.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    ratio = torch.exp(log_probs[mask] - old_log_probs[mask])
    adv = advantages[mask]
    shift = (ratio.clamp(1 - clip, 1 + clip) - ratio).detach()
    surr_plain = ratio * adv
    surr_clipped = (ratio + shift) * adv
    return -torch.min(surr_plain, surr_clipped).mean()
