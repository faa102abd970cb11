import torch


def whiten(x, mask):
    var, mean = torch.var_mean(x[mask], correction=1)
    return torch.where(mask, (x - mean) / (var + 1e-8).sqrt(), 0)
