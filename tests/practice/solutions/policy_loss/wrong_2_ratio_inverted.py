# Takes the ratio the wrong way round, old policy over new policy.
import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    def pick(tensor):
        return torch.masked_select(tensor, mask)

    adv = pick(advantages)
    ratio = torch.exp(pick(old_log_probs) - pick(log_probs))
    unclipped = ratio * adv
    clipped = ratio.clamp(1 - clip, 1 + clip) * adv
    return -torch.minimum(unclipped, clipped).mean()
