# Sorts the responses by prompt and forgets to bring the result back to batch order.
import torch


def group_advantages(scores, groups):
    sorted_groups, order = torch.sort(groups, stable=True)
    sorted_scores = scores[order]
    _, counts = torch.unique_consecutive(sorted_groups, return_counts=True)
    normed = []
    for part in torch.split(sorted_scores, counts.tolist()):
        if part.max() == part.min():
            normed.append(torch.zeros_like(part))
        else:
            normed.append((part - part.mean()) / (part.std() + 1e-6))
    return torch.cat(normed)
