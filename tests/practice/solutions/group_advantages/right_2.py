import torch


def group_advantages(scores, groups):
    ids, slot = torch.unique(groups, return_inverse=True)
    empty = scores.new_zeros(len(ids))
    size = torch.bincount(slot, minlength=len(ids))
    mean = empty.scatter_add(0, slot, scores) / size
    centred = scores - mean[slot]
    var = empty.scatter_add(0, slot, centred.square()) / (size - 1)
    high = empty.scatter_reduce(0, slot, scores, "amax", include_self=False)
    low = empty.scatter_reduce(0, slot, scores, "amin", include_self=False)
    advantages = centred / (var.sqrt() + 1e-6)[slot]
    return advantages.masked_fill((high == low)[slot], 0.0)
