# Mixes up the axes: takes the columns (time) for the sequences in the seq modes.
import torch


def aggregate(losses, mask, mode):
    kept = losses * mask
    if mode == "token-mean":
        return kept.sum() / mask.sum()
    per_seq = kept.sum(dim=0)
    counts = mask.sum(dim=0)
    used = counts > 0
    if mode == "seq-mean-token-mean":
        return torch.mean(per_seq[used] / counts[used])
    return torch.mean(per_seq[used])
