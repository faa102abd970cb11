"""Per-token estimates of the KL divergence from the actor to the reference.

All three look at the sampled token alone; k1 and k3 are unbiased when it was sampled
by the actor. Nothing is clamped.
"""

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32
from ppo_ref.shapes import Tokens, checked


@checked
def kl_k1(*, log_probs: Tokens, ref_log_probs: Tokens) -> Tokens:
    """The log-ratio: unbiased, and negative on many a single token.

        k1_t = log_probs_t - ref_log_probs_t

    Args:
        log_probs: Of the actor, for the sampled tokens, in nats.
        ref_log_probs: Of the frozen reference, for the same tokens, in nats.

    Returns:
        Nats per token; padding is computed like any slot; gradient flows.

    Source:
        Schulman (2020), Approximating KL Divergence, k1.

    Example:
        >>> ref = torch.tensor([[-0.25]])
        >>> kl_k1(log_probs=torch.tensor([[-0.75]]), ref_log_probs=ref)
        tensor([[-0.5000]])
    """
    return _log_ratio(log_probs, ref_log_probs)


@checked
def kl_k2(*, log_probs: Tokens, ref_log_probs: Tokens) -> Tokens:
    """Half the squared log-ratio: never negative, biased, its mean gradient the KL's.

        k2_t = (log_probs_t - ref_log_probs_t)**2 / 2

    Args:
        log_probs: Of the actor, for the sampled tokens, in nats.
        ref_log_probs: Of the frozen reference, for the same tokens, in nats.

    Returns:
        Nats per token; padding is computed like any slot; gradient flows.

    Source:
        Schulman (2020), Approximating KL Divergence, k2.

    Example:
        >>> ref = torch.tensor([[-0.25]])
        >>> kl_k2(log_probs=torch.tensor([[-0.75]]), ref_log_probs=ref)
        tensor([[0.1250]])
    """
    return _log_ratio(log_probs, ref_log_probs).square() / 2


@checked
def kl_k3(*, log_probs: Tokens, ref_log_probs: Tokens) -> Tokens:
    """The log-ratio with a control variate: unbiased and never negative.

        k3_t = exp(-k1_t) - 1 + k1_t

    Args:
        log_probs: Of the actor, for the sampled tokens, in nats.
        ref_log_probs: Of the frozen reference, for the same tokens, in nats.

    Returns:
        Nats per token; padding is computed like any slot; gradient flows.

    Source:
        Schulman (2020), Approximating KL Divergence, k3.

    Example:
        >>> ref = torch.tensor([[-0.25]])
        >>> kl_k3(log_probs=torch.tensor([[-0.75]]), ref_log_probs=ref)
        tensor([[0.1487]])
    """
    log_ratio = _log_ratio(log_probs, ref_log_probs)
    return torch.expm1(-log_ratio) + log_ratio


def _log_ratio(log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    return at_least_float32(log_probs) - at_least_float32(ref_log_probs)
