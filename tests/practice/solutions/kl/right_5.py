import torch


def estimators():
    yield lambda p, q: p - q
    yield lambda p, q: torch.square(p - q).div(2)
    yield lambda p, q: torch.exp(q - p) - 1.0 - q + p


def kl(log_probs, ref_log_probs):
    out = log_probs.new_empty((3, *log_probs.shape))
    for i, estimate in enumerate(estimators()):
        out[i] = estimate(log_probs, ref_log_probs)
    return out.unbind(0)
