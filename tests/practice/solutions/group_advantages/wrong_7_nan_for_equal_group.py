# Leaves 1e-6 out because scores always differ, and gets 0 / 0 where they do not.
import torch


def group_advantages(scores, groups):
    advantages = torch.empty_like(scores)
    for g in set(groups.tolist()):
        chosen = groups == g
        group_scores = scores[chosen]
        std, mean = torch.std_mean(group_scores)
        advantages[chosen] = (group_scores - mean) / std
    return advantages
