"""Undecorated kernels of the losses: ratios and clips per token, for torch.compile."""

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32

# verl 0.9.1 clamps here too: beyond it exp overflows, and 0 * inf is nan in a gradient.
MAX_LOG_RATIO = 20.0


def bounded_log_ratio(
    log_probs: Tensor, old_log_probs: Tensor, response_mask: Tensor
) -> Tensor:
    """New less old log-probs, within 20 nats either way.

    Args:
        log_probs: Of the actor being trained; never read outside the mask.
        old_log_probs: Of the actor that sampled; never read outside the mask.
        response_mask: True where the token counts.

    Returns:
        Nats, 0 outside the mask; gradient flows into ``log_probs`` alone.

    Example:
        >>> mask = torch.tensor([[True, False]])
        >>> bounded_log_ratio(torch.zeros(1, 2), torch.tensor([[-30., -1.]]), mask)
        tensor([[20.,  0.]])
    """
    log_ratio = at_least_float32(log_probs) - at_least_float32(old_log_probs).detach()
    log_ratio = torch.where(response_mask, log_ratio, 0)
    return log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO)


def clipped_policy_losses(
    log_ratio: Tensor,
    advantages: Tensor,
    low: float,
    high: float,
    dual_clip: float | None,
) -> tuple[Tensor, Tensor]:
    """The losses of ``policy_loss`` before they are aggregated.

    Args:
        log_ratio: New less old log-probs, in nats.
        advantages: One per token.
        low: How far the ratio counts below 1.
        high: How far it counts above 1.
        dual_clip: Bound on the loss of a negative advantage, or None.

    Returns:
        The loss of each token, and whether its clipped term is the larger one.

    Example:
        >>> clipped_policy_losses(torch.zeros(1), torch.ones(1), 0.2, 0.2, None)
        (tensor([-1.]), tensor([False]))
    """
    ratio = log_ratio.exp()
    unclipped = -advantages * ratio
    clipped = -advantages * ratio.clamp(1 - low, 1 + high)
    losses = torch.maximum(unclipped, clipped)
    if dual_clip is not None:
        bounded = torch.minimum(losses, -advantages * dual_clip)
        losses = torch.where(advantages < 0, bounded, losses)
    return losses, clipped > unclipped


def clipped_value_losses(
    values: Tensor, old_values: Tensor, returns: Tensor, value_clip_range: float
) -> tuple[Tensor, Tensor]:
    """The losses of ``value_loss`` before they are aggregated.

    Args:
        values: Of the critic being trained.
        old_values: Of the critic at the time of sampling.
        returns: What the critic should predict.
        value_clip_range: How far ``values`` count from ``old_values``.

    Returns:
        The loss of each token, and whether its clipped error is the larger one.

    Example:
        >>> one = torch.ones(1)
        >>> clipped_value_losses(one, 0 * one, 2 * one, 0.5)
        (tensor([1.1250]), tensor([True]))
    """
    near = values.clamp(old_values - value_clip_range, old_values + value_clip_range)
    unclipped, clipped = (values - returns).square(), (near - returns).square()
    return torch.maximum(unclipped, clipped) / 2, clipped > unclipped
