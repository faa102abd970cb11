"""What numbers and tensors must hold beyond type and shape, in the caller's words."""

import reprlib
from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor


def require_unit_interval(function: str, **numbers: float) -> None:
    """Refuse a number outside [0, 1]."""
    _require(function, numbers, "lie in [0, 1]", lambda x: 0 <= x <= 1)


def require_at_least(function: str, least: float, **numbers: float) -> None:
    """Refuse a number below a bound."""
    _require(function, numbers, f"be at least {least}", lambda x: x >= least)


def require_above(function: str, bound: float, **numbers: float) -> None:
    """Refuse a number that is not above a bound."""
    _require(function, numbers, f"be greater than {bound}", lambda x: x > bound)


def require_index(function: str, length: int, **indices: int) -> None:
    """Refuse an index beyond a length."""
    _require(function, indices, f"lie in [0, {length})", lambda x: 0 <= x < length)


def _require(
    function: str,
    numbers: Mapping[str, float],
    what: str,
    holds: Callable[[float], bool],
) -> None:
    for name, number in numbers.items():
        if not holds(number):
            raise ValueError(f"{function}: {name} must {what}, got {number}")


def require_clip_range(function: str, low: float, high: float) -> None:
    """Refuse a range whose lower end is 0 or less, or that leaves out 1."""
    if not (0 <= low < 1 and high >= 0):
        raise ValueError(
            f"{function}: clip_range must lie in [0, 1) and [0, inf), "
            f"got ({low}, {high})"
        )


def require_bounds(function: str, low: float, high: float) -> None:
    """Refuse bounds of a ratio that fall, or that begin below 0."""
    if not 0 <= low <= high:
        raise ValueError(
            f"{function}: bounds must rise from at least 0, got ({low}, {high})"
        )


def require_tokens(function: str, response_mask: Tensor, least: int = 1) -> None:
    """Refuse a mask that counts too few tokens."""
    count = int(response_mask.sum())
    if count < least:
        plural = "s" * (least > 1)
        raise ValueError(
            f"{function}: response_mask must count at least {least} token{plural}, "
            f"got {count}"
        )


def require_finite(
    function: str, response_mask: Tensor, **tensors: Tensor | None
) -> None:
    """Refuse nan and infinity where they would be read.

    Sums are asked first, a single pass; then one reduced flag, because naming the
    position makes a GPU wait. A tensor of one float per row counts in the rows that
    have a token; None is nothing to check.
    """
    read = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    if _all_finite(read.values()):
        return
    unfit = {
        name: ~tensor.isfinite() & _counts(response_mask, tensor)
        for name, tensor in read.items()
    }
    if not torch.stack([positions.any() for positions in unfit.values()]).any():
        return
    name, at = next((name, at) for name, x in unfit.items() if (at := _first(x)))
    value, by_row = read[name][tuple(at)].item(), read[name].ndim == 1
    where = "in rows with a token" if by_row else "where response_mask is True"
    raise ValueError(f"{function}: {name} must be finite {where}, got {value} at {at}")


def require_batch(
    function: str, response_mask: Tensor, **tensors: Tensor | None
) -> None:
    """Refuse a mask without tokens, or an input that is not finite on one."""
    require_tokens(function, response_mask)
    require_finite(function, response_mask, **tensors)


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


def _all_finite(tensors: Iterable[Tensor]) -> bool:
    # What is not finite makes a sum so. A sum that overflows proves nothing.
    with torch.no_grad():
        sums = [
            x.sum(dtype=torch.promote_types(x.dtype, torch.float32)) for x in tensors
        ]
        return bool(torch.stack(sums).isfinite().all())


def _counts(response_mask: Tensor, tensor: Tensor) -> Tensor:
    if tensor.ndim == 1:
        return response_mask.any(1)
    return response_mask.view(*response_mask.shape, *[1] * (tensor.ndim - 2))


def require_not_negative(
    function: str, response_mask: Tensor, **tensors: Tensor
) -> None:
    """Refuse a number below 0 where it would be read."""
    for name, tensor in tensors.items():
        if at := _first((tensor < 0) & response_mask):
            raise ValueError(
                f"{function}: {name} must be at least 0, "
                f"got {tensor[tuple(at)].item()} at {at}"
            )


def require_token_ids(function: str, vocab: int, responses: Tensor) -> None:
    """Refuse an id outside the vocabulary, on which a GPU would crash."""
    if at := _first((responses < 0) | (responses >= vocab)):
        raise ValueError(
            f"{function}: responses must lie in [0, {vocab}), "
            f"got {responses[tuple(at)].item()} at {at}"
        )


def require_kept(function: str, kept: Tensor) -> None:
    """Refuse a slot that leaves nothing to draw from."""
    if at := _first(~kept.any(-1)):
        raise ValueError(
            f"{function}: kept must hold a token in every slot, got none at {at}"
        )


def require_row_tokens(function: str, response_mask: Tensor) -> None:
    """Refuse a mask with a row in which no token counts."""
    if at := _first(~response_mask.any(1)):
        raise ValueError(
            f"{function}: response_mask must count a token in every row, "
            f"got none in row {at[0]}"
        )


def _first(wrong: Tensor) -> list[int]:
    """Where the first True stands; nowhere is empty."""
    found: list[int] = wrong.nonzero()[0].tolist() if wrong.any() else []
    return found
