"""Corrections, by the token, for an engine whose log-probs are not the trainer's.

Both hold the same actor, yet their kernels differ: the ratio is the trainer's
probability of a sampled token over the engine's. Weights of whole responses stand in
snippets/off_policy/rollout_correction.py.
"""

import torch
from torch import Tensor

from ppo_ref.kl import MAX_LOG_RATIO
from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    TokenMask,
    Tokens,
    require_above,
    require_bounds,
    require_finite,
)


def token_weights(
    *,
    old_log_probs: Tokens,
    rollout_log_probs: Tokens,
    response_mask: TokenMask,
    cap: float = 2.0,
) -> Tokens:
    """Truncated importance sampling by the token: biased, with little variance.

        w_t = min(exp(old_log_probs_t - rollout_log_probs_t), cap)

    Args:
        old_log_probs: Recomputed by the trainer before the update, in nats.
        rollout_log_probs: As the engine sampled, in nats.
        response_mask: True where the token counts; gaps allowed.
        cap: The greatest weight, above 0; infinity truncates nothing.

    Returns:
        Weights for ``policy_loss``, without unit, 0 outside the mask, without
        gradient. The log-ratio is clamped to 20 nats either way.

    Raises:
        ValueError: if ``cap`` is not above 0, or an input is not finite on a token
            that counts.

    Source:
        verl v0.9.1, verl/trainer/ppo/rollout_corr_helper.py,
        compute_rollout_correction_weights, "token".

    Example:
        >>> token_weights(
        ...     old_log_probs=torch.tensor([[0.9, 0.2]]).log(),
        ...     rollout_log_probs=torch.tensor([[0.3, 0.4]]).log(),
        ...     response_mask=torch.tensor([[True, True]]),
        ... )
        tensor([[2.0000, 0.5000]])
    """
    require_above("token_weights", 0, cap=cap)
    log_ratio = _log_ratio(
        "token_weights", old_log_probs, rollout_log_probs, response_mask
    )
    return torch.where(response_mask, _ratio(log_ratio).clamp(max=cap), 0)


def accepted_tokens(
    *,
    old_log_probs: Tokens,
    rollout_log_probs: Tokens,
    response_mask: TokenMask,
    bounds: tuple[float, float] = (0.5, 2.0),
) -> TokenMask:
    """The tokens on which trainer and engine agree; the others leave the mask.

        low <= exp(old_log_probs_t - rollout_log_probs_t) <= high

    Args:
        old_log_probs: As in ``token_weights``.
        rollout_log_probs: As in ``token_weights``.
        response_mask: True where the token counts; gaps allowed.
        bounds: (low, high) of the ratio, low at least 0, high at least low.

    Returns:
        A mask to train with: True where the token counts and is accepted.

    Raises:
        ValueError: if ``bounds`` fall or are negative, or an input is not finite on
            a token that counts.

    Source:
        verl v0.9.1, verl/trainer/ppo/rollout_corr_helper.py,
        compute_rollout_rejection_mask, "token_k1", whose bounds are those of the
        inverse ratio.

    Example:
        >>> accepted_tokens(
        ...     old_log_probs=torch.tensor([[0.9, 0.3]]).log(),
        ...     rollout_log_probs=torch.tensor([[0.3, 0.4]]).log(),
        ...     response_mask=torch.tensor([[True, True]]),
        ... )
        tensor([[False,  True]])
    """
    low, high = bounds
    require_bounds("accepted_tokens", low, high)
    log_ratio = _log_ratio(
        "accepted_tokens", old_log_probs, rollout_log_probs, response_mask
    )
    ratio = _ratio(log_ratio)
    return response_mask & (low <= ratio) & (ratio <= high)


def _log_ratio(
    function: str,
    old_log_probs: Tensor,
    rollout_log_probs: Tensor,
    response_mask: Tensor,
) -> Tensor:
    require_finite(
        function,
        response_mask,
        old_log_probs=old_log_probs,
        rollout_log_probs=rollout_log_probs,
    )
    log_ratio = at_least_float32(old_log_probs) - at_least_float32(rollout_log_probs)
    return torch.where(response_mask, log_ratio, 0).detach()


def _ratio(log_ratio: Tensor) -> Tensor:
    return log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()
