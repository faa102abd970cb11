# Assumes every prompt has the same number of responses, batch / number of prompts.
import torch


def group_advantages(scores, groups):
    prompts, index = torch.unique(groups, return_inverse=True)
    n = scores.numel() / prompts.numel()
    total = scores.new_zeros(prompts.numel()).index_add(0, index, scores)
    diff = scores - (total / n)[index]
    squares = scores.new_zeros(prompts.numel()).index_add(0, index, diff**2)
    std = torch.sqrt(squares / (n - 1))
    return diff / (std[index] + 1e-6)
