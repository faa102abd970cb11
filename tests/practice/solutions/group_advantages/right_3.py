import torch


def group_advantages(scores, groups):
    same = groups.unsqueeze(0) == groups.unsqueeze(1)
    first = same.to(torch.int8).argmax(dim=1)
    # measured from the first score of the group, equal scores are exactly 0
    x = (scores - scores[first]).double()
    weight = same.double()
    n = weight.sum(dim=1)
    mean = weight @ x / n
    spread = (weight * (x.unsqueeze(0) - mean.unsqueeze(1)) ** 2).sum(dim=1)
    std = torch.sqrt(spread / (n - 1))
    return ((x - mean) / (std + 1e-6)).to(scores.dtype)
