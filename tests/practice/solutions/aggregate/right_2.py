import torch


def aggregate(losses, mask, mode):
    weights = mask.to(losses.dtype)
    if mode == "token-mean":
        return torch.sum(losses * weights) / torch.sum(weights)
    seq_losses = torch.sum(losses * weights, dim=-1)
    if mode == "seq-mean-token-mean":
        seq_losses = seq_losses / torch.sum(weights, dim=-1)
    elif mode != "seq-mean-token-sum":
        raise ValueError(f"unknown mode {mode!r}")
    return torch.mean(seq_losses)
