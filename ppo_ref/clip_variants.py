"""The clip after PPO: GSPO, GMPO, CISPO and SAPO.

Where all ratios are 1, the four have the gradient of PPO's loss; they differ in which
tokens keep one further out, and how much of it.
"""

import torch
from torch import Tensor

from ppo_ref.aggregation import Aggregate, sequence_mean_token_mean, token_mean
from ppo_ref.losses import (
    PolicyLoss,
    averaged,
    clipped_policy_losses,
    policy_terms,
    require_clip_range,
)
from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    TokenMask,
    Tokens,
    require_above,
    require_at_least,
    require_bounds,
)


def gspo_loss(
    *,
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Tokens,
    response_mask: TokenMask,
    clip_range: float | tuple[float, float] = (3e-4, 4e-4),
    aggregate: Aggregate = sequence_mean_token_mean,
) -> PolicyLoss:
    """One ratio for the whole response, clipped as a whole: all its tokens or none.

        ratio = exp(mean_t(log_probs_t - old_log_probs_t))
        loss_t = max(-A_t * ratio, -A_t * clip(ratio, 1 - low, 1 + high))

    Args:
        log_probs: Of the actor being trained, in nats.
        old_log_probs: Of the actor that sampled, in nats.
        advantages: In reward units, or whitened; in the paper one per response.
        response_mask: True where the token counts; gaps allowed.
        clip_range: How far the response's ratio counts below and above 1; one number
            for both sides, or (low, high). The mean makes that ratio much closer to 1
            than a token's.
        aggregate: From one loss per token to one.

    Returns:
        As ``policy_loss``; gradient flows into ``log_probs`` alone, and a token gets
        its own advantage times the response's ratio.

    Raises:
        ValueError: if no token counts, an input is not finite on one that does, or
            ``clip_range`` is negative or its low side not below 1.
        TypeError: if ``aggregate`` does not return one number.

    Source:
        Zheng et al. (2025), arXiv:2507.18071v2, GSPO-token; verl v0.9.1,
        verl/trainer/ppo/core_algos.py, compute_policy_loss_gspo.

    Example:
        >>> gspo_loss(
        ...     log_probs=torch.tensor([[0.5, 0.5]]).log(),
        ...     old_log_probs=torch.tensor([[0.25, 0.25]]).log(),
        ...     advantages=torch.tensor([[1., 1.]]),
        ...     response_mask=torch.tensor([[True, True]]),
        ...     clip_range=0.2,
        ... ).loss
        tensor(-1.2000)
    """
    log_ratio, targets = policy_terms(
        "gspo_loss", log_probs, old_log_probs, advantages, response_mask
    )
    low, high = clip_range if isinstance(clip_range, tuple) else (clip_range,) * 2
    require_clip_range("gspo_loss", low, high)
    shared = _row_means(log_ratio.detach(), response_mask)
    # The value is the row's, the gradient the token's own.
    own = torch.where(response_mask, shared + log_ratio - log_ratio.detach(), 0)
    losses, clipped = clipped_policy_losses(own, targets, low, high, None)
    return averaged("gspo_loss", aggregate, losses, clipped, log_ratio, response_mask)


def gmpo_loss(
    *,
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Tokens,
    response_mask: TokenMask,
    clip_range: float | tuple[float, float] = 0.4,
    aggregate: Aggregate = sequence_mean_token_mean,
) -> PolicyLoss:
    """GSPO's ratio with the clip inside its mean: a token is clipped, the rest stays.

        x_t = min(s * d_t, s * clip(d_t, -low, high)) * s
        loss = -A * exp(mean_t(x_t))

    with d the log-ratio of a token, s the sign of its advantage, and A the mean of the
    response's advantages.

    Args:
        log_probs: Of the actor being trained, in nats.
        old_log_probs: Of the actor that sampled, in nats.
        advantages: In reward units, or whitened; in the paper one per response.
        response_mask: True where the token counts; gaps allowed.
        clip_range: How far a log-ratio counts below and above 0, in nats; one number
            for both sides, or (low, high).
        aggregate: From one loss per token to one; all tokens of a response have its
            loss.

    Returns:
        As ``policy_loss``; gradient flows into ``log_probs`` alone.

    Raises:
        ValueError: if no token counts, an input is not finite on one that does, or
            ``clip_range`` is negative.
        TypeError: if ``aggregate`` does not return one number.

    Source:
        Zhao et al. (2025), arXiv:2507.20673; verl v0.9.1,
        verl/trainer/ppo/core_algos.py, compute_policy_loss_geo_mean.

    Example:
        >>> gmpo_loss(
        ...     log_probs=torch.tensor([[0.5, 0.5]]).log(),
        ...     old_log_probs=torch.tensor([[0.25, 0.5]]).log(),
        ...     advantages=torch.tensor([[1., 1.]]),
        ...     response_mask=torch.tensor([[True, True]]),
        ... ).loss
        tensor(-1.2214)
    """
    log_ratio, targets = policy_terms(
        "gmpo_loss", log_probs, old_log_probs, advantages, response_mask
    )
    low, high = clip_range if isinstance(clip_range, tuple) else (clip_range,) * 2
    require_at_least("gmpo_loss", 0, low=low, high=high)
    near, sign = log_ratio.clamp(-low, high), targets.sign()
    clipped = sign * near < sign * log_ratio
    within = torch.where(clipped, near, log_ratio) * (sign != 0)
    ratio = _row_means(within, response_mask).exp()
    losses = -_row_means(targets, response_mask) * ratio
    losses = torch.where(response_mask, losses, 0)
    return averaged("gmpo_loss", aggregate, losses, clipped, log_ratio, response_mask)


def cispo_loss(
    *,
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Tokens,
    response_mask: TokenMask,
    bounds: tuple[float, float] = (0.0, 5.0),
    aggregate: Aggregate = token_mean,
) -> PolicyLoss:
    """The policy gradient, weighed by a clipped ratio: no token loses its gradient.

        loss_t = -A_t * stop_gradient(clip(ratio_t, low, high)) * log_probs_t

    Args:
        log_probs: Of the actor being trained, in nats.
        old_log_probs: Of the actor that sampled, in nats.
        advantages: In reward units, or whitened.
        response_mask: True where the token counts; gaps allowed.
        bounds: Least and greatest weight, not distances from 1; low at least 0, high
            at least low.
        aggregate: From one loss per token to one.

    Returns:
        As ``policy_loss``, with the share of tokens whose weight is not their ratio;
        gradient flows into ``log_probs`` alone. The loss itself means nothing.

    Raises:
        ValueError: if no token counts, an input is not finite on one that does, or
            ``bounds`` fall or are negative.
        TypeError: if ``aggregate`` does not return one number.

    Source:
        MiniMax (2025), arXiv:2506.13585; verl v0.9.1, verl/trainer/ppo/core_algos.py,
        compute_policy_loss_cispo, where bounds are 1 - clip_ratio_low and
        1 + clip_ratio_high; TRL v1.16.0, trl/trainer/grpo_trainer.py, where they are
        0 and epsilon_high.

    Example:
        >>> cispo_loss(
        ...     log_probs=torch.tensor([[0.5, 0.5]]).log(),
        ...     old_log_probs=torch.tensor([[0.25, 0.5]]).log(),
        ...     advantages=torch.tensor([[1., 1.]]),
        ...     response_mask=torch.tensor([[True, True]]),
        ...     bounds=(0.8, 1.2),
        ... ).loss
        tensor(0.7625)
    """
    log_ratio, targets = policy_terms(
        "cispo_loss", log_probs, old_log_probs, advantages, response_mask
    )
    low, high = bounds
    require_bounds("cispo_loss", low, high)
    ratio = log_ratio.detach().exp()
    weight = ratio.clamp(low, high)
    counted = torch.where(response_mask, at_least_float32(log_probs), 0)
    losses = -targets * weight * counted
    clipped = response_mask & (weight != ratio)
    return averaged("cispo_loss", aggregate, losses, clipped, log_ratio, response_mask)


def sapo_loss(
    *,
    log_probs: Tokens,
    old_log_probs: Tokens,
    advantages: Tokens,
    response_mask: TokenMask,
    temperatures: tuple[float, float] = (1.0, 1.05),
    aggregate: Aggregate = sequence_mean_token_mean,
) -> PolicyLoss:
    """A gate in place of the clip: the gradient fades on both sides, and never ends.

        loss_t = -A_t * sigmoid(tau * (ratio_t - 1)) * 4 / tau

    Args:
        log_probs: Of the actor being trained, in nats.
        old_log_probs: Of the actor that sampled, in nats.
        advantages: In reward units, or whitened.
        response_mask: True where the token counts; gaps allowed.
        temperatures: tau where the advantage is positive, and where it is not; above
            0, and the gradient fades sooner with a greater one.
        aggregate: From one loss per token to one.

    Returns:
        As ``policy_loss``, with a clip fraction of 0: nothing is clipped. Gradient
        flows into ``log_probs`` alone.

    Raises:
        ValueError: if no token counts, an input is not finite on one that does, or a
            temperature is not above 0.
        TypeError: if ``aggregate`` does not return one number.

    Source:
        Qwen (2025), arXiv:2511.20347; verl v0.9.1, verl/trainer/ppo/core_algos.py,
        compute_policy_loss_sapo.

    Example:
        >>> sapo_loss(
        ...     log_probs=torch.tensor([[0.5, 0.5]]).log(),
        ...     old_log_probs=torch.tensor([[0.25, 0.5]]).log(),
        ...     advantages=torch.tensor([[1., 1.]]),
        ...     response_mask=torch.tensor([[True, True]]),
        ... ).loss
        tensor(-2.4621)
    """
    log_ratio, targets = policy_terms(
        "sapo_loss", log_probs, old_log_probs, advantages, response_mask
    )
    positive, other = temperatures
    require_above("sapo_loss", 0, positive=positive, other=other)
    # At an advantage of 0 the loss is 0 with either.
    tau = torch.full_like(targets, other).masked_fill(targets > 0, positive)
    losses = -targets * torch.sigmoid(tau * (log_ratio.exp() - 1)) * 4 / tau
    clipped = torch.zeros_like(response_mask)
    return averaged("sapo_loss", aggregate, losses, clipped, log_ratio, response_mask)


def _row_means(x: Tensor, response_mask: Tensor) -> Tensor:
    """The mean of each row over its tokens, on a column of its own."""
    lengths = response_mask.sum(1, keepdim=True).clamp(min=1)
    return torch.where(response_mask, x, 0).sum(1, keepdim=True) / lengths
