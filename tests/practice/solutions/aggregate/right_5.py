import torch


def _shares(mask, mode, dtype):
    """How much each token weighs in the loss."""
    batch = mask.shape[0]
    if mode == "token-mean":
        share = torch.full(mask.shape, 1.0, dtype=dtype, device=mask.device)
        share = share / mask.sum()
    elif mode == "seq-mean-token-mean":
        lengths = mask.sum(1, keepdim=True).to(dtype)
        share = (1 / (batch * lengths)).expand(mask.shape)
    elif mode == "seq-mean-token-sum":
        share = torch.full(mask.shape, 1.0 / batch, dtype=dtype, device=mask.device)
    else:
        raise ValueError(mode)
    return share[mask]


def aggregate(losses, mask, mode):
    return losses[mask] @ _shares(mask, mode, losses.dtype)
