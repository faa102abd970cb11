import torch


def group_advantages(scores, groups):
    out = torch.zeros_like(scores)
    for g in groups.unique():
        s = scores[groups == g]
        if (s != s[0]).any():
            out[groups == g] = (s - s.mean()) / (s.std() + 1e-6)
    return out
