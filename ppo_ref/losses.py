"""The losses of actor and critic, and the objective that came before."""

import reprlib
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.aggregation import Aggregate, token_mean
from ppo_ref.kl import bounded_log_ratio
from ppo_ref.masking import masked_mean
from ppo_ref.precision import at_least_float32, constant
from ppo_ref.require import (
    Scalar,
    TokenMask,
    Tokens,
    require_above,
    require_at_least,
    require_batch,
    require_not_negative,
)


class PolicyLoss(NamedTuple):
    """The actor's loss with gradient, and two statistics without."""

    loss: Scalar
    clip_fraction: Scalar
    approx_kl: Scalar


class ValueLoss(NamedTuple):
    """The critic's loss with gradient, and a statistic without."""

    loss: Scalar
    clip_fraction: Scalar


def surrogate_objective(
    *,
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Tokens,
    response_mask: TokenMask,
    aggregate: Aggregate = token_mean,
) -> Scalar:
    """Conservative policy iteration: the unclipped objective, to be maximised.

        L = mean(exp(log_probs_t - old_log_probs_t) * A_t)

    Args:
        log_probs: Of the actor being trained, in nats.
        old_log_probs: Of the actor that sampled, in nats.
        advantages: In reward units, or whitened.
        response_mask: True where the token counts; gaps allowed.
        aggregate: From one number per token to one.

    Returns:
        The objective; gradient flows into ``log_probs`` alone. The log-ratio is
        clamped to 20 nats either way.

    Raises:
        ValueError: if no token counts, or an input is not finite on one that does.
        TypeError: if ``aggregate`` does not return one number.

    Source:
        Schulman et al. (2017), arXiv:1707.06347v2, equation 6.

    Example:
        >>> surrogate_objective(
        ...     log_probs=torch.tensor([[0.5, 0.5]]).log(),
        ...     old_log_probs=torch.tensor([[0.25, 0.5]]).log(),
        ...     advantages=torch.tensor([[1., 1.]]),
        ...     response_mask=torch.tensor([[True, True]]),
        ... )
        tensor(1.5000)
    """
    log_ratio, targets = policy_terms(
        "surrogate_objective", log_probs, old_log_probs, advantages, response_mask
    )
    terms = log_ratio.exp() * targets
    return require_number("surrogate_objective", aggregate(terms, response_mask))


def policy_loss(
    *,
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Tokens,
    response_mask: TokenMask,
    clip_range: float | tuple[float, float] = 0.2,
    dual_clip: float | None = None,
    rollout_weights: Tokens | None = None,
    aggregate: Aggregate = token_mean,
) -> PolicyLoss:
    """The clipped loss of PPO: no reward for leaving the range around the old actor.

        ratio_t = exp(log_probs_t - old_log_probs_t)
        loss_t = max(-A_t * ratio_t, -A_t * clip(ratio_t, 1 - low, 1 + high))

    Args:
        log_probs: Of the actor being trained, in nats.
        old_log_probs: Of the actor that sampled, in nats.
        advantages: In reward units, or whitened.
        response_mask: True where the token counts; gaps allowed.
        clip_range: How far the ratio counts below and above 1; one number for both
            sides, or (low, high).
        dual_clip: Where the advantage is negative, bound the loss by this multiple of
            it; above 1, and None for no bound.
        rollout_weights: Factors on the losses, clips included, where the engine that
            sampled is not the trainer: as ``token_weights`` gives them, at least 0;
            all 1 when left out.
        aggregate: From one loss per token to one.

    Returns:
        The loss; gradient flows into ``log_probs`` alone. The share of tokens whose
        clipped term is the larger one, and the mean of old less new log-probs in
        nats: per-token means over the mask, unweighted, without gradient. The
        log-ratio is clamped to 20 nats either way.

    Raises:
        ValueError: if no token counts, an input is not finite or a weight negative
            on one that does, ``clip_range`` is negative or its low side not below 1,
            or ``dual_clip`` is not above 1.
        TypeError: if ``aggregate`` does not return one number.

    Source:
        Schulman et al. (2017), arXiv:1707.06347v2, equation 7; dual clip: Ye et al.
        (2020), arXiv:1912.09729v3, equation 5; verl v0.9.1,
        verl/trainer/ppo/core_algos.py, compute_policy_loss_vanilla.

    Example:
        >>> policy_loss(
        ...     log_probs=torch.tensor([[0.5, 0.5]]).log(),
        ...     old_log_probs=torch.tensor([[0.25, 0.5]]).log(),
        ...     advantages=torch.tensor([[1., 1.]]),
        ...     response_mask=torch.tensor([[True, True]]),
        ... ).loss
        tensor(-1.1000)
    """
    name = "policy_loss"
    log_ratio, targets = policy_terms(
        name,
        log_probs,
        old_log_probs,
        advantages,
        response_mask,
        rollout_weights=rollout_weights,
    )
    low, high = clip_range if isinstance(clip_range, tuple) else (clip_range,) * 2
    require_clip_range(name, low, high)
    if dual_clip is not None:
        require_above(name, 1, dual_clip=dual_clip)
    losses, clipped = clipped_policy_losses(log_ratio, targets, low, high, dual_clip)
    if rollout_weights is not None:
        require_not_negative(name, response_mask, rollout_weights=rollout_weights)
        losses = losses * constant(rollout_weights, response_mask)
    return averaged(name, aggregate, losses, clipped, log_ratio, response_mask)


def value_loss(
    *,
    values: Tokens,
    old_values: Tokens,
    returns: Tokens,
    response_mask: TokenMask,
    value_clip_range: float,
    aggregate: Aggregate = token_mean,
) -> ValueLoss:
    """Half the squared error of the critic, the worse of clipped and unclipped.

        clipped_t = clip(V_t, V_old_t - value_clip_range, V_old_t + value_clip_range)
        loss_t = max((V_t - R_t)**2, (clipped_t - R_t)**2) / 2

    Args:
        values: Of the critic being trained, in reward units.
        old_values: Of the critic at the time of sampling, in reward units.
        returns: What the critic should predict, in reward units.
        response_mask: True where the token counts; gaps allowed.
        value_clip_range: In reward units, at least 0; infinity clips nothing.
        aggregate: From one loss per token to one.

    Returns:
        The loss, in reward units squared; gradient flows into ``values`` alone. The
        share of tokens whose clipped error is the larger one, without gradient.

    Raises:
        ValueError: if no token counts, an input is not finite on one that does, or
            ``value_clip_range`` is negative.
        TypeError: if ``aggregate`` does not return one number.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, compute_value_loss.

    Example:
        >>> value_loss(
        ...     values=torch.tensor([[1., 0.5]]),
        ...     old_values=torch.tensor([[0., 0.5]]),
        ...     returns=torch.tensor([[2., 1.5]]),
        ...     response_mask=torch.tensor([[True, True]]),
        ...     value_clip_range=0.5,
        ... )
        ValueLoss(loss=tensor(0.8125), clip_fraction=tensor(0.5000))
    """
    require_batch(
        "value_loss",
        response_mask,
        values=values,
        old_values=old_values,
        returns=returns,
    )
    require_at_least("value_loss", 0, value_clip_range=value_clip_range)
    losses, clipped = clipped_value_losses(
        torch.where(response_mask, at_least_float32(values), 0),
        constant(old_values, response_mask),
        constant(returns, response_mask),
        value_clip_range,
    )
    return ValueLoss(
        require_number("value_loss", aggregate(losses, response_mask)),
        masked_mean(clipped.to(losses.dtype), response_mask),
    )


def require_clip_range(function: str, low: float, high: float) -> None:
    """Refuse a range whose lower end is 0 or less, or that leaves out 1."""
    if not (0 <= low < 1 and high >= 0):
        raise ValueError(
            f"{function}: clip_range must lie in [0, 1) and [0, inf), "
            f"got ({low}, {high})"
        )


def require_number(function: str, result: object) -> Tensor:
    """Refuse what is no loss of a batch; it comes from the reader's own aggregate."""
    if isinstance(result, Tensor):
        if result.is_floating_point() and result.ndim == 0:
            return result
        dtype = str(result.dtype).removeprefix("torch.")
        received = f"{dtype} of shape {list(result.shape)}"
    else:
        received = f"{type(result).__name__} {reprlib.repr(result)}"
    raise TypeError(
        f"{function}: aggregate must return a number per batch, a floating-point "
        f"tensor of shape [], got {received}"
    )


def policy_terms(
    function: str,
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    response_mask: Tensor,
    **others: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """The log-ratios, and the advantages without gradient; 0 outside the mask."""
    inputs = {"log_probs": log_probs, "old_log_probs": old_log_probs}
    require_batch(function, response_mask, **inputs, advantages=advantages, **others)
    log_ratio = bounded_log_ratio(log_probs, old_log_probs, response_mask)
    return log_ratio, constant(advantages, response_mask)


def averaged(
    function: str,
    aggregate: Aggregate,
    losses: Tensor,
    clipped: Tensor,
    log_ratio: Tensor,
    response_mask: Tensor,
) -> PolicyLoss:
    """The loss of a batch from those of its tokens, and the two statistics."""
    return PolicyLoss(
        require_number(function, aggregate(losses, response_mask)),
        masked_mean(clipped.to(losses.dtype), response_mask),
        masked_mean(-log_ratio.detach(), response_mask),
    )


def clipped_policy_losses(
    log_ratio: Tensor,
    advantages: Tensor,
    low: float,
    high: float,
    dual_clip: float | None,
) -> tuple[Tensor, Tensor]:
    """The loss of each token, and whether its clipped term is the larger one."""
    ratio = log_ratio.exp()
    unclipped = -advantages * ratio
    clipped = -advantages * ratio.clamp(1 - low, 1 + high)
    losses = torch.maximum(unclipped, clipped)
    if dual_clip is not None:
        bounded = torch.minimum(losses, -advantages * dual_clip)
        # At an advantage of 0 both are 0: <= would do as well.
        losses = torch.where(advantages < 0, bounded, losses)
    return losses, clipped > unclipped


def clipped_value_losses(
    values: Tensor, old_values: Tensor, returns: Tensor, value_clip_range: float
) -> tuple[Tensor, Tensor]:
    """The loss of each token, and whether its clipped error is the larger one."""
    near = values.clamp(old_values - value_clip_range, old_values + value_clip_range)
    unclipped, clipped = (values - returns).square(), (near - returns).square()
    return torch.maximum(unclipped, clipped) / 2, clipped > unclipped
