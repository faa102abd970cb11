import math

import torch


def group_advantages(scores, groups):
    members = {}
    for index, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(index)
    points = scores.tolist()
    result = [0.0] * len(points)
    for indices in members.values():
        own = [points[i] for i in indices]
        if min(own) == max(own):
            continue
        mean = math.fsum(own) / len(own)
        variance = math.fsum((p - mean) ** 2 for p in own) / (len(own) - 1)
        for i in indices:
            result[i] = (points[i] - mean) / (math.sqrt(variance) + 1e-6)
    return torch.tensor(result, dtype=scores.dtype, device=scores.device)
