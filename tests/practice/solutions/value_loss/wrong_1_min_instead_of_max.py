# Takes the smaller of the two errors, by analogy with the min of the policy loss.
import torch


def value_loss(values, old_values, returns, mask, clip):
    clipped = old_values + torch.clamp(values - old_values, -clip, clip)
    loss1 = (values - returns) ** 2
    loss2 = (clipped - returns) ** 2
    return 0.5 * torch.min(loss1, loss2)[mask].mean()
