# Only subtracts the group's mean, as Dr. GRPO does, and does not divide by its std.
import torch


def group_advantages(scores, groups):
    same_prompt = (groups[:, None] == groups[None, :]).to(scores.dtype)
    baseline = torch.matmul(same_prompt, scores) / same_prompt.sum(dim=1)
    return scores - baseline
