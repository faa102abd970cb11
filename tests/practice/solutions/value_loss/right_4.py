import torch


def value_loss(values, old_values, returns, mask, clip):
    v, o, r = (x[mask] for x in (values, old_values, returns))
    c = o + (v - o).clamp(-clip, clip)
    return torch.maximum((v - r).abs(), (c - r).abs()).pow(2).mean() / 2
