import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    ratio = (log_probs[mask] - old_log_probs[mask]).exp()
    adv = advantages[mask]
    surrogate = torch.minimum(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv)
    return -surrogate.mean()
