# Zeroes the padding but averages over all positions instead of those that count.
import torch


def value_loss(values, old_values, returns, mask, clip):
    def squared(prediction):
        return (prediction - returns).masked_fill(~mask, 0.0) ** 2

    nearby = torch.clamp(values, old_values - clip, old_values + clip)
    return 0.5 * torch.maximum(squared(values), squared(nearby)).mean()
