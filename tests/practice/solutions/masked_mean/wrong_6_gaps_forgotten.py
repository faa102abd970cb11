# Takes the tokens that count to be the first ones of each row, as if gaps never were.
import torch


def masked_mean(x, mask):
    lengths = mask.sum(dim=1).tolist()
    pieces = [row[:n] for row, n in zip(x, lengths)]
    return torch.cat(pieces).mean()
