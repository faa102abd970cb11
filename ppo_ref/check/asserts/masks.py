"""Asserts about slots that do not count: nothing in them may have an effect."""

from bisect import bisect_left
from collections.abc import Callable
from itertools import product
from typing import Annotated

import torch
from torch import Tensor

from ppo_ref.alignment import last_token, slot_after_end
from ppo_ref.check.asserts.faults import (
    beyond,
    counted,
    described,
    fail,
    first,
    place,
    require_like,
    same_randomness,
    shown,
    tolerance_for,
)
from ppo_ref.require import (
    TokenMask,
    Tokens,
    require_finite,
    require_row_tokens,
    require_tokens,
)

_WHOLE = "a mean, a deviation or a sum runs over all slots; mask it"
_ATTENDED = (
    "the model reads it; pass attention_mask, and position_ids that skip padding"
)
_LATE = "the slot after the end counts; shift the values, not the mask; mask any mean"

Estimator = Annotated[
    Callable[..., Tensor], "a function from the named inputs to advantages"
]
Inputs = Annotated[dict[str, Tensor], "a dict of tensors by name"]


def assert_padding_ignored(
    advantages: Estimator, inputs: Inputs, response_mask: TokenMask
) -> None:
    """Padding changes no advantage, whatever stands in it.

    Each input in turn gets garbage where the mask is False, ten times as large as what
    it holds: first everywhere but in the slot after the end, then in that slot alone.

    Args:
        advantages: Your function, called with the inputs by name: whatever it takes,
            the mask among it, must be in its closure. Whitening may be part of it.
        inputs: What it reads, each [batch, time]: rewards, values, ...
        response_mask: True where the token counts.

    Raises:
        AssertionError: if an advantage that counts changes by more than rounding: 1e-4
            of the garbage in float32, a tenth in bfloat16.
        ValueError: if no token counts, no slot is left out, or an input is not finite
            where it counts.
        TypeError: if an input or the result is not [batch, time].

    Example:
        >>> rewards, mask = torch.tensor([[0., 1., 0.]]), torch.tensor([[1, 1, 0]]) > 0
        >>> assert_padding_ignored(lambda r: r - r[mask].mean(), {"r": rewards}, mask)
        >>> assert_padding_ignored(lambda r: r - r.mean(), {"r": rewards}, mask)
        Traceback (most recent call last):
        AssertionError: garbage in the padding of r moved
        advantages[0, 0] from -0.3333 to -2.4333: the slot
        after the end counts; shift the values, not the
        mask; mask any mean
    """
    name = "assert_padding_ignored"
    require_tokens(name, response_mask)
    if response_mask.all():
        raise ValueError(f"{name}: response_mask must be False somewhere, got all True")
    for key, x in inputs.items():
        require_like(f"{name}: inputs[{key!r}] must be", x, response_mask)
    require_finite(name, response_mask, **inputs)
    before = _call(name, advantages, inputs, response_mask)
    require_like(f"{name}: advantages must return", before, response_mask)
    after_end = slot_after_end(response_mask)
    elsewhere = ~response_mask & ~after_end
    tries = ((elsewhere, _WHOLE), (after_end, _LATE))
    tolerance = tolerance_for(*inputs.values())
    for key, (slots, cause) in product(inputs, tries):
        garbage = _changed(inputs, key, slots)
        after = _call(name, advantages, garbage, response_mask)
        moved = beyond(after - before, tolerance, before, garbage[key]) & response_mask
        if moved.any():
            what = f"garbage in the padding of {key} moved {place('advantages', moved)}"
            fail(f"{what} {_from_to(before, after, moved)}", cause)


def assert_masked_out_ignored(
    function: Estimator, inputs: Inputs, mask: TokenMask
) -> None:
    """Slots that the mask leaves out move nothing: no loss, no number that counts.

    Everything outside the mask is changed at once, input by input; if something moves,
    fewer and fewer slots are, to name the first that does it.

    Args:
        function: Your loss, or your model's forward, called with the inputs by name.
            It returns a tensor: numbers per token are compared where the mask is True,
            all else, a loss for one, as a whole.
        inputs: What it reads, each [batch, time]: log-probs and advantages of a loss,
            or ids of a model. An id becomes another one of the batch, a number garbage
            ten times as large as what counts.
        mask: True where a slot counts: the response mask of a loss, the attention mask
            of a model.

    Raises:
        AssertionError: if the result changes by more than rounding: 1e-4 of its
            largest number in float32, a tenth in bfloat16.
        ValueError: if no slot counts, or none is left out, or all ids are the same.
        TypeError: if an input is not [batch, time], or the result is no tensor of
            floating-point numbers.

    Example:
        >>> x, mask = torch.tensor([[1., 2., 4.]]), torch.tensor([[1, 1, 0]]) > 0
        >>> assert_masked_out_ignored(lambda x: x[mask].mean(), {"x": x}, mask)
        >>> assert_masked_out_ignored(lambda x: x.mean(), {"x": x}, mask)
        Traceback (most recent call last):
        AssertionError: x[0, 2] is masked out and moved the
        result from 2.3333 to 5.2000: a mean, a deviation or
        a sum runs over all slots; mask it
    """
    name = "assert_masked_out_ignored"
    require_tokens(name, mask)
    if mask.all():
        raise ValueError(f"{name}: mask must be False somewhere, got all True")
    for key, x in inputs.items():
        if isinstance(x, Tensor) and x.is_floating_point():
            require_like(f"{name}: inputs[{key!r}] must be", x, mask)
        elif not (isinstance(x, Tensor) and x.shape == mask.shape):
            raise TypeError(
                f"{name}: inputs[{key!r}] must be a tensor of shape [batch, time] = "
                f"{list(mask.shape)} like mask, got {described(x)}"
            )
    before = _call(name, function, inputs, mask)
    allowed = tolerance_for(before) * before.abs().max()
    number = (~mask).flatten().cumsum(0).view(mask.shape)  # of each slot, from 1
    count = int(number.max())

    def result(key: str, most: int) -> Tensor:
        """The result with the first slots of an input changed."""
        slots = ~mask & (number <= most)
        return _call(name, function, _changed(inputs, key, slots), mask)

    def moved(after: Tensor) -> Tensor:
        return ~((after - before).abs() <= allowed)

    for key, x in inputs.items():
        if not moved(result(key, count)).any():
            continue
        most = 1 + bisect_left(
            range(1, count + 1), True, key=lambda n: bool(moved(result(key, n)).any())
        )
        after = result(key, most)
        slot = place(key, ~mask & (number == most))
        target = place("result", moved(after)) if before.ndim else "the result"
        cause = _ATTENDED
        if x.is_floating_point() or not before.ndim:
            cause = _WHOLE
        change = _from_to(before, after, moved(after))
        fail(f"{slot} is masked out and moved {target} {change}", cause)


def assert_score_on_last_token(
    token_level_scores: Tokens, response_mask: TokenMask
) -> None:
    """The score of a response lies on its last token that counts, and nowhere else.

    A row that is all zeros passes: a score of 0 lies nowhere.

    Args:
        token_level_scores: Before any KL is subtracted, in reward units.
        response_mask: True where the token counts; gaps allowed.

    Raises:
        AssertionError: if a number other than 0 stands in another slot.
        ValueError: if a row has no token, or a score is not finite where it counts.

    Example:
        >>> mask = torch.tensor([[True, True, False]])
        >>> assert_score_on_last_token(torch.tensor([[0., 1., 0.]]), mask)
        >>> assert_score_on_last_token(torch.tensor([[0., 0., 1.]]), mask)
        Traceback (most recent call last):
        AssertionError: token_level_scores[0, 2] is 1, the
        last token is [0, 1]: the score is 1 slot late,
        where the mask hides it; index the length of the
        response less 1
    """
    require_row_tokens("assert_score_on_last_token", response_mask)
    require_finite(
        "assert_score_on_last_token",
        response_mask,
        token_level_scores=token_level_scores,
    )
    last = last_token(response_mask)
    wrong = (token_level_scores != 0) & ~last
    if not wrong.any():
        return
    row, token = first(wrong)
    end = int(last[row].nonzero())
    away = counted(abs(token - end), "slot")
    side = "early"
    if token > end:
        side = "late, where the mask hides it"
    cause = f"the score is {away} {side}; index the length of the response less 1"
    if int(wrong[row].sum()) > 1:
        cause = "the score is written on many tokens; keep the last, or know why"
    scores = shown("token_level_scores", token_level_scores, wrong, ".4g")
    fail(f"{scores}, the last token is [{row}, {end}]", cause)


def _from_to(before: Tensor, after: Tensor, where: Tensor) -> str:
    x = float(before[first(where)])
    y = float(after[first(where)])
    return f"from {x:.4f} to {y:.4f}"


def _changed(inputs: Inputs, key: str, slots: Tensor) -> Inputs:
    """Other numbers or other ids of the batch in these slots of an input.

    A number becomes ten times the largest one, its sign and size another in each slot,
    such that no few of them sum to 0.
    """
    x = inputs[key]
    if x.is_floating_point():
        size = 10 * torch.where(slots, 0, x).abs().max().clamp(min=1)
        count = torch.arange(slots.numel(), device=x.device).view(slots.shape)
        other = size * (count % 3 - 1.37).to(x.dtype)
    else:
        known = torch.unique(x)
        if len(known) < 2:
            text = f"inputs[{key!r}] must hold at least 2 different ids, got 1"
            raise ValueError(text)
        other = torch.where(x == known[0], known[1], known[0])
    return {**inputs, key: torch.where(slots, other, x)}


def _call(name: str, function: Estimator, inputs: Inputs, mask: Tensor) -> Tensor:
    """The function's result, 0 where it is per token and the mask leaves that out."""
    with same_randomness(), torch.no_grad():
        result = function(**{key: x.clone() for key, x in inputs.items()})
    if not (isinstance(result, Tensor) and result.is_floating_point()):
        raise TypeError(
            f"{name}: your function must return a floating-point tensor, "
            f"got {described(result)}"
        )
    if result.shape[:2] == mask.shape:
        counts = mask.view(*mask.shape, *[1] * (result.ndim - 2))
        result = torch.where(counts, result, 0)
    return result
