# Subtracts the mean of the group's other responses, the baseline of RLOO.
import torch


def group_advantages(scores, groups):
    result = torch.zeros_like(scores)
    for group_id in groups.unique().tolist():
        members = groups == group_id
        r = scores[members]
        others_mean = (r.sum() - r) / (r.numel() - 1)
        if r.max() > r.min():
            result[members] = (r - others_mean) / (r.std() + 1e-6)
    return result
