# Uses the error of the clipped value alone, without the max with the unclipped one.
import torch


def value_loss(values, old_values, returns, mask, clip):
    change = torch.clamp(values - old_values, -clip, clip)
    residual = old_values + change - returns
    residual = residual.masked_fill(~mask, 0.0)
    return residual.square().sum() / (2 * mask.sum())
