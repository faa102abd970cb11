# Takes the mean over the batch to mean: sum all tokens, divide by the responses.
import torch


def masked_mean(x, mask):
    batch_size = x.size(0)
    total = 0.0
    for i in range(batch_size):
        total = total + torch.sum(x[i][mask[i]])
    return total / batch_size
