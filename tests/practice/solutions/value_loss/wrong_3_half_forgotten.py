# Leaves out the half of the squared error.
import torch
import torch.nn.functional as F


def value_loss(values, old_values, returns, mask, clip):
    v, old, target = values[mask], old_values[mask], returns[mask]
    v_clipped = torch.clamp(v, old - clip, old + clip)
    err = F.mse_loss(v, target, reduction="none")
    err_clipped = F.mse_loss(v_clipped, target, reduction="none")
    return torch.max(err, err_clipped).mean()
