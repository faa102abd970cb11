import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    r = (log_probs - old_log_probs).masked_fill(~mask, 0).exp()
    a = advantages.masked_fill(~mask, 0)
    r = torch.where(a > 0, r.clamp(max=1 + clip), r.clamp(min=1 - clip))
    return torch.einsum("bt,bt->", r, a) / -mask.sum()
