import torch


def value_loss(values, old_values, returns, mask, clip):
    where = mask.nonzero(as_tuple=True)
    now, before, goal = values[where], old_values[where], returns[where]
    step = now - before
    small = step.abs() <= clip
    held = torch.where(small, now, before + clip * step.sign())
    both = torch.stack([now - goal, held - goal]).square()
    share = torch.full_like(goal, 0.5 / goal.numel())
    return torch.dot(both.amax(0), share)
