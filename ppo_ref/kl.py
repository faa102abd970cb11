"""Per-token estimates of the KL divergence from the actor to the reference.

All look at the sampled token alone; k1 and k3 are unbiased when it was sampled by the
actor. Nothing is clamped.
"""

import math

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32
from ppo_ref.require import Tokens, require_above, require_at_least, require_shapes

# verl 0.9.1 clamps here too: beyond it exp overflows, and 0 * inf is nan in a gradient.
MAX_LOG_RATIO = 20.0
MOST_ERROR = 0.2  # beyond it a KL far off counts like one 20 % off


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
    return _log_ratio("kl_k1", log_probs=log_probs, ref_log_probs=ref_log_probs)


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
    return (
        _log_ratio("kl_k2", log_probs=log_probs, ref_log_probs=ref_log_probs).square()
        / 2
    )


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
    log_ratio = _log_ratio("kl_k3", log_probs=log_probs, ref_log_probs=ref_log_probs)
    return torch.expm1(-log_ratio) + log_ratio


def bounded_log_ratio(
    log_probs: Tensor, old_log_probs: Tensor, response_mask: Tensor
) -> Tensor:
    """New less old log-probs in nats, within 20 either way; 0 outside the mask."""
    log_ratio = at_least_float32(log_probs) - at_least_float32(old_log_probs).detach()
    log_ratio = torch.where(response_mask, log_ratio, 0)
    return log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def _log_ratio(function: str, **pair: Tensor) -> Tensor:
    require_shapes(
        function, **{name: (x, "float batch time") for name, x in pair.items()}
    )
    log_probs, others = map(at_least_float32, pair.values())
    return log_probs - others


def adaptive_kl_coef(
    *, kl_coef: float, kl: float, target: float, horizon: float, steps: int
) -> float:
    """The coefficient after a batch: higher if the KL was above its target.

        error = clip(kl / target - 1, -0.2, 0.2)
        kl_coef' = kl_coef * (1 + error * steps / horizon)

    Args:
        kl_coef: With which the batch was priced, reward units per nat; 0 stays 0.
        kl: Mean of the batch, in the unit of ``target``; an estimate may be negative.
        target: Where the KL is to be, above 0; in nats per token or per response.
        horizon: Responses in which the coefficient moves by a fifth at most; an
            infinite one keeps it.
        steps: Responses of the batch.

    Returns:
        Reward units per nat, at least 0.

    Raises:
        ValueError: if ``kl_coef`` is negative, ``kl`` not finite, ``target`` or
            ``horizon`` not above 0, ``steps`` below 1, or so large for the horizon
            that the coefficient could fall to 0 at once.

    Source:
        Ziegler et al. (2019), arXiv:1909.08593, section 2.2; verl v0.9.1,
        verl/trainer/ppo/core_algos.py, AdaptiveKLController.

    Example:
        >>> given = {"target": 6, "horizon": 10_000, "steps": 500}
        >>> adaptive_kl_coef(kl_coef=0.5, kl=60.0, **given)
        0.505
    """
    name = "adaptive_kl_coef"
    require_at_least(name, 0, kl_coef=kl_coef)
    require_above(name, 0, target=target, horizon=horizon)
    require_at_least(name, 1, steps=steps)
    if not math.isfinite(kl):
        raise ValueError(f"{name}: kl must be finite, got {kl}")
    if MOST_ERROR * steps >= horizon:
        most = horizon / MOST_ERROR
        raise ValueError(
            f"{name}: steps must be below 5 times the horizon, {most:g}, got {steps}"
        )
    error = min(max(kl / target - 1, -MOST_ERROR), MOST_ERROR)
    return kl_coef * (1 + error * steps / horizon)
