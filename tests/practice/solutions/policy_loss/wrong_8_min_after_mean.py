# Takes the min of the two batch averages instead of averaging each token's min.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    count = mask.sum()
    ratio = torch.exp((log_probs - old_log_probs).masked_fill(~mask, 0.0))
    adv = advantages.masked_fill(~mask, 0.0)
    plain = (ratio * adv).sum() / count
    clipped = (ratio.clamp(1 - clip, 1 + clip) * adv).sum() / count
    return -torch.min(plain, clipped)
