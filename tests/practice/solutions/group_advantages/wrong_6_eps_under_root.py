# Adds 1e-6 to the variance under the root instead of to the standard deviation.
import torch


def group_advantages(scores, groups):
    keys, where = groups.unique(return_inverse=True)
    member = torch.nn.functional.one_hot(where, len(keys)).to(scores.dtype)
    size = member.sum(dim=0)
    mean = (scores @ member) / size
    deviation = scores - mean[where]
    variance = (deviation**2 @ member) / (size - 1)
    normalised = deviation * torch.rsqrt(variance + 1e-6)[where]
    equal = [len(set(scores[where == k].tolist())) == 1 for k in range(len(keys))]
    return normalised.masked_fill(torch.tensor(equal)[where], 0.0)
