"""Figures to log: how the training stands, by one batch, without gradient."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.kl import bounded_log_ratio, kl_k1, kl_k3
from ppo_ref.masking import masked_mean
from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    Scalar,
    TokenMask,
    Tokens,
    require_batch,
    require_not_negative,
)

# Equal returns differ by up to 45 epsilons once gae has summed 8192 tokens in float32.
_ROUNDINGS = 64


class RatioStatistics(NamedTuple):
    """How far one model is from the one that sampled, over the sampled tokens."""

    mean: Scalar
    max: Scalar
    min: Scalar
    kl_k1: Scalar
    kl_k3: Scalar
    effective_sample_size: Scalar


def explained_variance(
    *, values: Tokens, returns: Tokens, response_mask: TokenMask
) -> Scalar:
    """Share of the variance of the returns that the critic foresaw.

        explained_variance = 1 - Var(R_t - V_t) / Var(R_t)

    Args:
        values: Of the critic, in reward units.
        returns: What it should have predicted, in reward units.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        1 where the values are the returns up to a constant, 0 where they are all
        equal, negative where they do worse than that; nan where the returns are all
        equal up to rounding, and there is no variance to explain.

    Raises:
        ValueError: if no token counts, or an input is not finite on one that does.

    Source:
        verl v0.9.1, verl/trainer/ppo/metric_utils.py, compute_data_metrics, which
        adds 1e-5 to the divisor and so answers where there is no variance.

    Example:
        >>> explained_variance(
        ...     values=torch.tensor([[0., 1., 1.]]),
        ...     returns=torch.tensor([[0., 1., 2.]]),
        ...     response_mask=torch.tensor([[True, True, True]]),
        ... )
        tensor(0.6667)
    """
    require_batch("explained_variance", response_mask, values=values, returns=returns)
    predicted, actual = (
        at_least_float32(x.detach()[response_mask]) for x in (values, returns)
    )
    spread = actual.max() - actual.min()
    scale = max(actual.abs().max(), predicted.abs().max())
    if spread <= _ROUNDINGS * torch.finfo(actual.dtype).eps * scale:
        return torch.full_like(spread, torch.nan)
    return 1 - (actual - predicted).var() / actual.var()


def effective_sample_size(weights: Tokens, response_mask: TokenMask) -> Scalar:
    """How many tokens of equal weight say as much, as a share of those that count.

        effective_sample_size = sum(w_t)**2 / (n * sum(w_t**2))

    Args:
        weights: At least 0, such as ratios; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        From 1 / n, where one token has all the weight, to 1, where all weigh the
        same; 0 where none has any.

    Raises:
        ValueError: if no token counts, or a weight that counts is negative or not
            finite.

    Source:
        Kish (1965), Survey Sampling; verl v0.9.1,
        verl/trainer/ppo/rollout_corr_helper.py, compute_is_metrics.

    Example:
        >>> mask = torch.tensor([[True, True, True, False]])
        >>> effective_sample_size(torch.tensor([[2., 1., 1., 9.]]), mask)
        tensor(0.8889)
    """
    require_batch("effective_sample_size", response_mask, weights=weights)
    require_not_negative("effective_sample_size", response_mask, weights=weights)
    return _effective_share(at_least_float32(weights.detach()[response_mask]))


def ratio_statistics(
    *, log_probs: Tokens, old_log_probs: Tokens, response_mask: TokenMask
) -> RatioStatistics:
    """How far the actor has moved from the one before the update.

        ratio_t = exp(log_probs_t - old_log_probs_t)

    Args:
        log_probs: Of the actor being trained, in nats.
        old_log_probs: Of the actor that sampled, in nats.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        Mean, greatest and least ratio; the k1 and k3 estimates of KL(old || new), in
        nats; ``effective_sample_size`` of the ratios. The log-ratio is clamped to 20
        nats either way.

    Raises:
        ValueError: if no token counts, or an input is not finite on one that does.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, compute_policy_loss_vanilla, logs
        the k1 estimate as ``ppo_kl``.

    Example:
        >>> ratio_statistics(
        ...     log_probs=torch.tensor([[0.5, 0.25]]).log(),
        ...     old_log_probs=torch.tensor([[0.25, 0.5]]).log(),
        ...     response_mask=torch.tensor([[True, True]]),
        ... ).effective_sample_size
        tensor(0.7353)
    """
    inputs = {"log_probs": log_probs, "old_log_probs": old_log_probs}
    return _ratio_statistics("ratio_statistics", response_mask, inputs)


def rollout_mismatch(
    *, old_log_probs: Tokens, rollout_log_probs: Tokens, response_mask: TokenMask
) -> RatioStatistics:
    """How far the trainer's actor is from the same actor in the engine that sampled.

        ratio_t = exp(old_log_probs_t - rollout_log_probs_t)

    Args:
        old_log_probs: Recomputed by the trainer before the update, in nats.
        rollout_log_probs: As the engine sampled, in nats.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        As ``ratio_statistics``; the estimates are of KL(rollout || trainer).

    Raises:
        ValueError: if no token counts, or an input is not finite on one that does.

    Source:
        verl v0.9.1, verl/trainer/ppo/rollout_corr_helper.py, compute_offpolicy_metrics,
        ``kl`` and ``k3_kl``.

    Example:
        >>> rollout_mismatch(
        ...     old_log_probs=torch.tensor([[0.25, 0.5]]).log(),
        ...     rollout_log_probs=torch.tensor([[0.5, 0.5]]).log(),
        ...     response_mask=torch.tensor([[True, True]]),
        ... ).kl_k1
        tensor(0.3466)
    """
    inputs = {"old_log_probs": old_log_probs, "rollout_log_probs": rollout_log_probs}
    return _ratio_statistics("rollout_mismatch", response_mask, inputs)


def _ratio_statistics(
    function: str, response_mask: Tensor, inputs: dict[str, Tensor]
) -> RatioStatistics:
    require_batch(function, response_mask, **inputs)
    log_probs, sampled = inputs.values()
    log_ratio = bounded_log_ratio(log_probs, sampled, response_mask).detach()
    ratio = log_ratio[response_mask].exp()
    # The estimators see the difference alone: 0 for the model that sampled.
    pair = {"log_probs": torch.zeros_like(log_ratio), "ref_log_probs": log_ratio}
    return RatioStatistics(
        ratio.mean(),
        ratio.max(),
        ratio.min(),
        masked_mean(kl_k1(**pair), response_mask),
        masked_mean(kl_k3(**pair), response_mask),
        _effective_share(ratio),
    )


def _effective_share(weights: Tensor) -> Tensor:
    top = weights.max()
    if top == 0:
        return top
    relative = weights / top  # squares of tiny or huge weights leave the float range
    return relative.mean().square() / relative.square().mean()
