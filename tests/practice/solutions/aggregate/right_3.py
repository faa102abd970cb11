import torch


def aggregate(losses, mask, mode):
    picked = losses[mask]
    owner = mask.nonzero()[:, 0]
    responses = mask.size(0)
    totals = picked.new_zeros(responses).index_add(0, owner, picked)
    lengths = torch.bincount(owner, minlength=responses)
    match mode:
        case "token-mean":
            return totals.sum() / lengths.sum()
        case "seq-mean-token-mean":
            return (totals / lengths).mean()
        case "seq-mean-token-sum":
            return totals.mean()
    raise ValueError(mode)
