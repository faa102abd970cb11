"""Two models before the first update: the same weights must say the same."""

import torch
from torch import Tensor

from ppo_ref.check.asserts.faults import (
    TOLERANCE,
    beyond,
    fail,
    first,
    shown,
    tolerance_for,
)
from ppo_ref.require import TokenMask, Tokens, require_at_least, require_batch

_SHORT = max(TOLERANCE.values())


def assert_kl_zero(
    log_probs: Tokens,
    ref_log_probs: Tokens,
    response_mask: TokenMask,
    *,
    tolerance: float | None = None,
) -> None:
    """Before the first update actor and reference agree on every token.

    Args:
        log_probs: Of the actor, for the sampled tokens, in nats.
        ref_log_probs: Of the reference, for the same tokens.
        response_mask: True where the token counts.
        tolerance: Of one token, in nats. Left out, that of the tensors' dtype: 1e-4
            for float32. Log-probs of a model that computes in bfloat16 differ by up to
            0.1 between two kernels, even when they are stored in float32: say so.

    Raises:
        AssertionError: if a token's log-probs differ by more.
        ValueError: if no token counts, or an input is not finite where it counts.

    Example:
        >>> same, mask = torch.tensor([[-1., -2.]]), torch.tensor([[True, True]])
        >>> assert_kl_zero(same, same, mask)
        >>> assert_kl_zero(same, same - 0.5, mask)
        Traceback (most recent call last):
        AssertionError: log_probs[0, 0] is -1.0000,
        ref_log_probs[0, 0] is -1.5000, mean kl 0.5000: the
        reference has other weights (an adapter left on,
        another checkpoint), another temperature or dropout
        left on
    """
    _compare(
        "assert_kl_zero",
        response_mask,
        {"log_probs": log_probs, "ref_log_probs": ref_log_probs},
        tolerance,
        "the reference has other weights (an adapter left on, another checkpoint), "
        "another temperature or dropout left on",
    )


def assert_ratio_one(
    log_probs: Tokens,
    old_log_probs: Tokens,
    response_mask: TokenMask,
    *,
    tolerance: float | None = None,
) -> None:
    """In the first mini-batch the actor is still the one that gave the old log-probs.

    Args:
        log_probs: Of the actor in its first mini-batch, in nats.
        old_log_probs: As they were stored before the update.
        response_mask: True where the token counts.
        tolerance: As in ``assert_kl_zero``.

    Raises:
        AssertionError: if the ratio of a token is not 1.
        ValueError: if no token counts, or an input is not finite where it counts.

    Example:
        >>> old, mask = torch.tensor([[-1., -2.]]), torch.tensor([[True, True]])
        >>> assert_ratio_one(old, old, mask)
        >>> assert_ratio_one(old / 0.7, old, mask)
        Traceback (most recent call last):
        AssertionError: log_probs[0, 0] is -1.4286,
        old_log_probs[0, 0] is -1.0000, ratio 0.65: old
        comes from another engine (the rollout's), another
        temperature, dropout left on, or a step came first
    """
    _compare(
        "assert_ratio_one",
        response_mask,
        {"log_probs": log_probs, "old_log_probs": old_log_probs},
        tolerance,
        "old comes from another engine (the rollout's), another temperature, dropout "
        "left on, or a step came first",
    )


def _compare(
    function: str,
    response_mask: Tensor,
    pair: dict[str, Tensor],
    tolerance: float | None,
    cause: str,
) -> None:
    require_batch(function, response_mask, **pair)
    if tolerance is not None:
        require_at_least(function, 0, tolerance=tolerance)
    allowed = tolerance_for(*pair.values()) if tolerance is None else tolerance
    name, other = pair
    x = pair[name].detach().double()
    y = pair[other].detach().double()
    difference = torch.where(response_mask, x - y, 0)
    wrong = beyond(difference, allowed) & response_mask
    if not wrong.any():
        return
    if _shifted(x, y, response_mask, allowed):
        cause = f"{other} lies one slot beside; cut both by the same slice"
    elif tolerance is None and not beyond(difference, _SHORT).any():
        cause = f"a model in bfloat16 may: pass tolerance={_SHORT}; if not, {cause}"
    summary = f"ratio {float(difference[first(wrong)].exp()):.2f}"
    if "ref" in other:
        summary = f"mean kl {float(difference.sum() / response_mask.sum()):.4f}"
    fail(f"{shown(name, x, wrong)}, {shown(other, y, wrong)}, {summary}", cause)


def _shifted(x: Tensor, y: Tensor, response_mask: Tensor, allowed: float) -> bool:
    """Say if one is the other, one slot later."""
    both = response_mask[:, 1:] & response_mask[:, :-1]
    if not both.any():
        return False
    for difference in (x[:, 1:] - y[:, :-1], x[:, :-1] - y[:, 1:]):
        if not (beyond(difference, allowed) & both).any():
            return True
    return False
