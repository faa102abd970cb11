"""The shapes that functions take, each named once, and the refusals of what differs.

To Python every shape is a tensor: the names document. A refusal names the function, the
argument, what must hold and what came. Compiled code is asked for kinds, shapes and
devices alone: to look into a tensor would break its graph.
"""

import math
import reprlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

Tokens = Tensor  # float [batch, time]
TokenMask = Tensor  # bool [batch, time]: True = the token counts
TokenIds = Tensor  # int32 or int64 [batch, time]
Logits = Tensor  # float [batch, time, vocab]
VocabMask = Tensor  # bool [batch, time, vocab]
Hidden = Tensor  # float [batch, time, width]
HeadWeight = Tensor  # float [vocab, width]
HeadBias = Tensor  # float [vocab]
RowValues = Tensor  # float [batch]
RowFlags = Tensor  # bool [batch]
RowIds = Tensor  # int32 or int64 [batch]
TurnValues = Tensor  # float [batch, turns]
SequenceIds = Tensor  # int32 or int64 [batch, sequence]
SequenceMask = Tensor  # bool [batch, sequence]
SequenceValues = Tensor  # float [batch, sequence]
SequenceOutputs = Tensor  # float [batch, sequence, *features]
ResponseOutputs = Tensor  # float [batch, time, *features]
Scalar = Tensor  # float []


class Kind(NamedTuple):
    """A kind of tensor: how it is told, its words, and the method that makes one."""

    holds: Callable[[Tensor], bool]
    words: str
    method: str


KINDS = {
    "float": Kind(Tensor.is_floating_point, "a floating-point tensor", "float()"),
    "bool": Kind(
        lambda x: x.dtype == torch.bool,
        "a bool tensor (True = the token counts)",
        "bool()",
    ),
    "ids": Kind(
        lambda x: x.dtype in (torch.int32, torch.int64),
        "an int32 or int64 tensor (ids)",
        "long()",
    ),
}


Given = Mapping[str, tuple[Tensor | None, str]]


def require_shapes(function: str, **given: tuple[Tensor | None, str]) -> None:
    """Refuse a tensor of another kind, shape or device; None passes.

    Axes of one name have one size.

    Example:
        >>> logits = torch.zeros(8, 16, 5), "float batch time vocab"
        >>> ids = torch.zeros(8, 9).long(), "ids batch time"
        >>> require_shapes("f", logits=logits, ids=ids)
        Traceback (most recent call last):
        TypeError: f: ids must have time 16 like logits, got 9
    """
    sizes: dict[str, int] = {}
    device = None
    for name, (tensor, expected) in given.items():
        if tensor is None:
            continue
        kind, *axes = expected.split()
        if not (isinstance(tensor, Tensor) and KINDS[kind].holds(tensor)):
            raise TypeError(f"{function}: {_kind_fault(name, tensor, kind, axes)}")
        device = device or tensor.device
        if tensor.device != device:
            raise ValueError(f"{function}: {_device_fault(name, tensor, given)}")
        if tensor.ndim != len(axes):
            _require_axes(f"{function}: {name}", tensor, axes)
        for axis, size in zip(axes, tensor.shape, strict=False):
            if sizes.setdefault(axis, size) != size:
                fault = _size_fault(tensor, axes, axis, sizes, given)
                raise TypeError(f"{function}: {name} must have {fault}")


def _kind_fault(name: str, tensor: object, kind: str, axes: list[str]) -> str:
    words, method = KINDS[kind].words, KINDS[kind].method
    if isinstance(tensor, Tensor):
        dtype = str(tensor.dtype).removeprefix("torch.")
        return f"{name} must be {words}, got {dtype}; write {name}.{method}"
    got = f"{type(tensor).__name__} {reprlib.repr(tensor)}"
    return f"{name} must be {words} of shape [{', '.join(axes)}], got {got}"


def _device_fault(name: str, tensor: Tensor, given: Given) -> str:
    first, other = next((n, x) for n, (x, _) in given.items() if x is not None)
    return (
        f"{name} is on {tensor.device} but {first} is on {other.device}; "
        "move both to one device"
    )


def _require_axes(what: str, tensor: Tensor, axes: list[str]) -> None:
    counted, least = axes, ""
    if axes[-1].startswith("*"):
        counted, least = axes[:-1], "at least "
        if tensor.ndim >= len(counted):
            return
    raise TypeError(
        f"{what} must have {least}{_counted(len(counted))} [{', '.join(axes)}], "
        f"got {_counted(tensor.ndim)} {list(tensor.shape)}"
    )


def _counted(axes: int) -> str:
    return "1 axis" if axes == 1 else f"{axes} axes"


def _size_fault(
    tensor: Tensor, axes: list[str], axis: str, sizes: dict[str, int], given: Given
) -> str:
    all_axes = {name: expected.split()[1:] for name, (_, expected) in given.items()}
    name = next(name for name, others in all_axes.items() if axis in others)
    if all_axes[name] != axes:
        return f"{axis} {sizes[axis]} like {name}, got {tensor.shape[axes.index(axis)]}"
    must = [sizes[one] for one in axes]
    return f"shape [{', '.join(axes)}] = {must} like {name}, got {list(tensor.shape)}"


def require_finite(
    function: str,
    response_mask: Tensor,
    axes: str = "batch time",
    /,
    **tensors: Tensor | None,
) -> None:
    """Refuse tensors of another shape, and nan and infinity where they are read.

    With ``axes`` "batch" they hold one number per row, read in rows that have a token.
    None passes.
    """
    given = {name: (tensor, f"float {axes}") for name, tensor in tensors.items()}
    require_shapes(function, **given, response_mask=(response_mask, "bool batch time"))
    refuse_infinite(function, response_mask, **tensors)


def refuse_infinite(
    function: str, response_mask: Tensor, **tensors: Tensor | None
) -> None:
    """Refuse nan and infinity where they are read, in tensors of a known shape."""
    read = {name: x for name, x in tensors.items() if x is not None}
    if torch.compiler.is_compiling() or not read:
        return
    # What is not finite makes a sum so, and one number is one wait for a GPU. A sum
    # that overflows proves nothing.
    if math.isfinite(sum(x.detach().sum() for x in read.values())):
        return
    for name, tensor in read.items():
        counts, where = response_mask, "where response_mask is True"
        if tensor.ndim == 1:
            counts, where = response_mask.any(1), "in rows with a token"
        elif tensor.ndim == 3:
            counts = response_mask[..., None]
        if at := _first(~tensor.isfinite() & counts):
            raise ValueError(
                f"{function}: {name} must be finite {where}, "
                f"got {tensor[tuple(at)].item()} at {at}"
            )


def sums_up(x: Tensor) -> bool:
    """Say whether the sum is finite: all are, then. Compiled code does not ask."""
    return torch.compiler.is_compiling() or math.isfinite(x.sum())


def require_batch(
    function: str, response_mask: Tensor, **tensors: Tensor | None
) -> None:
    """Refuse what is not finite on a token, and a mask without tokens."""
    require_finite(function, response_mask, **tensors)
    require_tokens(function, response_mask)


def require_tokens(function: str, response_mask: Tensor, least: int = 1) -> None:
    """Refuse a mask that counts too few tokens."""
    require_shapes(function, response_mask=(response_mask, "bool batch time"))
    if torch.compiler.is_compiling():
        return
    count = int(response_mask.sum())
    if count < least:
        tokens = "token" if least == 1 else "tokens"
        raise ValueError(
            f"{function}: response_mask must count at least {least} {tokens}, "
            f"got {count}"
        )


def require_row_tokens(function: str, response_mask: Tensor) -> None:
    """Refuse a mask with a row in which no token counts."""
    require_shapes(function, response_mask=(response_mask, "bool batch time"))
    if at := _first(~response_mask.any(1)):
        raise ValueError(
            f"{function}: response_mask must count a token in every row, "
            f"got none in row {at[0]}"
        )


def require_not_negative(
    function: str, response_mask: Tensor, **tensors: Tensor
) -> None:
    """Refuse a number below 0 where it is read."""
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


def _first(wrong: Tensor) -> list[int]:
    """Where the first True stands; empty where none does, or under torch.compile."""
    if torch.compiler.is_compiling() or not wrong.any():
        return []
    found: list[int] = wrong.nonzero()[0].tolist()
    return found


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


def require_bounds(function: str, low: float, high: float) -> None:
    """Refuse bounds of a ratio that fall, or that begin below 0."""
    if not 0 <= low <= high:
        raise ValueError(
            f"{function}: bounds must rise from at least 0, got ({low}, {high})"
        )


def _require(
    function: str,
    numbers: Mapping[str, float],
    what: str,
    holds: Callable[[float], bool],
) -> None:
    for name, number in numbers.items():
        if not holds(number):
            raise ValueError(f"{function}: {name} must {what}, got {number}")
