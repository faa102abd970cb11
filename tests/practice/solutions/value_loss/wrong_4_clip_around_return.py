# Clips the value around the return, the target, instead of around the old value.
import torch


def value_loss(values, old_values, returns, mask, clip):
    bounded = torch.minimum(torch.maximum(values, returns - clip), returns + clip)
    plain_error = (values - returns).pow(2)
    bounded_error = (bounded - returns).pow(2)
    per_token = 0.5 * torch.maximum(plain_error, bounded_error)
    return per_token[mask].mean()
