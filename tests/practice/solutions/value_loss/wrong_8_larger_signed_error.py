# Takes the max of the signed errors before squaring, so large negative errors lose.
import torch


def value_loss(values, old_values, returns, mask, clip):
    v = values[mask]
    old = old_values[mask]
    ret = returns[mask]
    v_near = old + (v - old).clamp(min=-clip, max=clip)
    error = torch.max(v - ret, v_near - ret)
    return (0.5 * error**2).mean()
