# Believes the responses of a prompt lie side by side, and takes runs of ids for groups.
import torch


def group_advantages(scores, groups):
    _, counts = torch.unique_consecutive(groups, return_counts=True)
    parts = []
    for chunk in torch.split(scores, counts.tolist()):
        if chunk.numel() == 1 or bool((chunk == chunk[0]).all()):
            parts.append(torch.zeros_like(chunk))
        else:
            parts.append((chunk - chunk.mean()) / (chunk.std() + 1e-6))
    return torch.cat(parts)
