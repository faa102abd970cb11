"""Rows that are computed together, packed or padded, must not see each other."""

from collections.abc import Callable, Sequence
from typing import Annotated

import torch
from torch import Tensor

from ppo_ref.check.asserts.faults import (
    beyond,
    described,
    fail,
    first,
    same_randomness,
    tolerance_for,
)
from ppo_ref.require import require_at_least

Together = Annotated[
    Callable[[list[Tensor]], Sequence[Tensor]],
    "a function from rows of ids to one row of numbers for each",
]


def assert_packed_equals_alone(
    function: Together, rows: list[Tensor], *, tolerance: float | None = None
) -> None:
    """A row gives the same numbers among others as it gives alone.

    It costs a call per row and two more, one of them with the rows in reverse.

    Args:
        function: Your forward with your packing or padding: it takes rows of ids, each
            [sequence], as many as it gets, and gives a row of numbers for each:
            log-probs or values.
        rows: At least two, of unequal lengths.
        tolerance: Of one number; left out, that of the numbers' dtype: 1e-4 in
            float32, 0.1 in bfloat16.

    Raises:
        AssertionError: if a number among others differs by more from that alone.
        ValueError: if there are fewer than 2 rows, or all are of one length.
        TypeError: if the function gives something else.

    Example:
        >>> rows = [torch.tensor([1, 2, 3]), torch.tensor([4, 5])]
        >>> alone = lambda rows: [row.float().cumsum(0) for row in rows]
        >>> assert_packed_equals_alone(alone, rows)
        >>> def packed(rows):
        ...     together = torch.cat(rows).float().cumsum(0)
        ...     return together.split([len(row) for row in rows])
        >>> assert_packed_equals_alone(packed, rows)
        Traceback (most recent call last):
        AssertionError: packed[1, 0] is 10.0000, alone it is
        4.0000: it reads the row before it; end attention
        and position_ids with each row (cu_seqlens)
    """
    name = "assert_packed_equals_alone"
    require_at_least(name, 2, rows=len(rows))
    if len({len(row) for row in rows}) == 1:
        raise ValueError(f"{name}: rows must be of unequal lengths, got {len(rows[0])}")
    alone = [_call(function, [row])[0] for row in rows]
    in_order = _call(function, rows)
    reversed_order = _call(function, rows[::-1])[::-1]
    forward = _wrong_places(in_order, alone, tolerance)
    backward = _wrong_places(reversed_order, alone, tolerance)
    for packed, places in ((in_order, forward), (reversed_order, backward)):
        for row, where in enumerate(places):
            if where.any():
                (token,) = first(where)
                fail(
                    f"packed[{row}, {token}] is {float(packed[row][token]):.4f}, "
                    f"alone it is {float(alone[row][token]):.4f}",
                    _cause(rows, forward, backward),
                )


def _cause(rows: list[Tensor], forward: list[Tensor], backward: list[Tensor]) -> str:
    """The likely cause, by which rows differ in this order and in the other."""
    if not forward[0].any() and not backward[-1].any():
        return (
            "it reads the row before it; end attention and position_ids with each row "
            "(cu_seqlens)"
        )
    wrong_lengths = []
    for row, x, y in zip(rows, forward, backward, strict=True):
        if x.any() or y.any():
            wrong_lengths.append(len(row))
    if max(wrong_lengths) < max(map(len, rows)):
        return (
            "only rows that are padded differ; pass attention_mask, and position_ids "
            "that skip padding"
        )
    return (
        "something runs over all rows: a mean or deviation of the batch, dropout left "
        "on, or experts with a capacity"
    )


def _call(function: Together, rows: list[Tensor]) -> list[Tensor]:
    with same_randomness(), torch.no_grad():
        found = [*function([row.clone() for row in rows])]
    fits = len(found) == len(rows) and all(
        isinstance(x, Tensor) and x.ndim == 1 and x.is_floating_point() for x in found
    )
    if not fits:
        kinds = ", ".join(map(described, found[:2]))
        raise TypeError(
            "assert_packed_equals_alone: function must give one row of floating-point "
            f"numbers for each of {len(rows)} rows, gave {len(found)}: {kinds}"
        )
    return found


def _wrong_places(
    packed: list[Tensor], alone: list[Tensor], tolerance: float | None
) -> list[Tensor]:
    """The places of each row that differ from those of the row alone."""
    places = []
    for x, y in zip(packed, alone, strict=True):
        if x.shape != y.shape:
            raise TypeError(
                "assert_packed_equals_alone: function must give a row as many numbers "
                f"among others as alone, gave {len(x)} and {len(y)}"
            )
        allowed = tolerance_for(x, y) if tolerance is None else tolerance
        places.append(beyond(x - y, allowed, y))
    return places
