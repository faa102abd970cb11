# Bounds the ratio from above only, so a negative advantage is never clipped.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    terms = []
    for new_row, old_row, adv_row, keep in zip(
        log_probs, old_log_probs, advantages, mask
    ):
        ratio = torch.exp(new_row[keep] - old_row[keep])
        adv = adv_row[keep]
        terms.append(torch.min(ratio * adv, ratio.clamp(max=1 + clip) * adv))
    return -torch.cat(terms).mean()
