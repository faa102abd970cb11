import torch


def _ceiling(gain, clip):
    """The most that a token may bring, g(clip, A) of Spinning Up."""
    return gain + clip * gain.abs()


def _objective(log_ratio, gain, clip):
    most = _ceiling(gain, clip)
    earned = log_ratio.exp() * gain
    return earned - torch.relu(earned - most)


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    pieces = []
    for new, old, gain, keep in zip(log_probs, old_log_probs, advantages, mask):
        chosen = keep.nonzero().squeeze(1)
        pieces.append(_objective(new[chosen] - old[chosen], gain[chosen], clip))
    return torch.cat(pieces).mean().neg()
