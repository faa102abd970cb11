# Returns the objective itself, which is to be maximised, instead of its negative.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    ratio = torch.exp(log_probs - old_log_probs)
    surr1 = ratio * advantages
    surr2 = torch.clamp(ratio, 1 - clip, 1 + clip) * advantages
    surr = torch.min(surr1, surr2)
    return surr[mask].mean()
