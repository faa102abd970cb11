import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    weight = mask.to(log_probs.dtype)
    ratio = torch.exp(log_probs - old_log_probs)
    pg_loss1 = -advantages * ratio
    pg_loss2 = -advantages * torch.clamp(ratio, 1.0 - clip, 1.0 + clip)
    pg_loss = torch.max(pg_loss1, pg_loss2)
    return (pg_loss * weight).sum() / weight.sum()
