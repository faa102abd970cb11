"""Ways in which advantages by groups go wrong, told by what they explain exactly."""

from collections.abc import Iterator

import torch
from torch import Tensor

_PARTS = (2, 3, 4, 8)


def named(
    scores: Tensor | None,
    of_row: Tensor,
    lengths: Tensor,
    held: Tensor,
    size: Tensor,
) -> str:
    """The way that explains the advantage of every row; or nothing.

    Without scores, the advantages themselves are taken for them: what was normalised
    over some rows has there mean 0 and deviation 1, and does not change again.
    """
    known = held if scores is None else scores
    near = size + (0.02 if scores is None else 1e-3) * held.abs()
    for words, mean, deviation in (
        *_in_parts(known, of_row),
        *_others(known, of_row, lengths),
    ):
        for scale in (deviation + 1e-6, torch.ones_like(known)):
            if not (((known - mean) / scale - held).abs() > near).any():
                return words
    return ""


def named_of_centred(of_row: Tensor, held: Tensor, size: Tensor) -> tuple[str, bool]:
    """The parts in which groups were normalised whose own mean is 0, without scores.

    The second result says that the deviation is 1 in each part, which is no chance; a
    mean of 0 alone, over a few rows, may be.
    """
    near = size + 0.02 * held.abs()
    maybe = ""
    for words, mean, deviation in _in_parts(held, of_row):
        if not (((held - mean) / (deviation + 1e-6) - held).abs() > near).any():
            return words, True
        if not maybe and not (mean.abs() > near).any():
            maybe = words
    return maybe, False


Way = tuple[str, Tensor, Tensor]  # with the mean and the deviation of each row


def _in_parts(scores: Tensor, of_row: Tensor) -> Iterator[Way]:
    """Each group in parts, of rows that follow each other or that take turns."""
    everything = torch.ones_like(scores)
    most = int(torch.bincount(of_row).max())
    place, count = _places(of_row)
    for parts in _PARTS:
        if most > parts and not (count % parts).any():
            width = count // parts
            text = f"each group of {most} was normalised as {parts} of {most // parts}"
            for part in (place // width, place % parts):
                yield text, *_moments(scores, of_row * parts + part, everything)


def _others(scores: Tensor, of_row: Tensor, lengths: Tensor) -> Iterator[Way]:
    """Groups without one of their rows, or all rows as one."""
    everything = torch.ones_like(scores)
    mean, deviation = _moments(scores, of_row, everything)
    place, count = _places(of_row)
    for word, key in (("longest", lengths), ("shortest", -lengths)):
        left_out = _first_of_most(key, of_row)
        text = f"the mean of each group leaves out its {word} row"
        others, apart = _moments(scores, of_row, everything - left_out)
        yield text, others, apart
        yield text, others, deviation
    for word, row in (("first", place == 0), ("last", place == count - 1)):
        others, apart = _moments(scores, of_row, everything - row.double())
        text = f"the mean of each group leaves out its {word} row"
        yield text, others, apart
        yield text, others, deviation
    whole = everything * scores.std()
    yield "divided by the deviation of all rows, not of each group", mean, whole
    text = "the mean and deviation are those of all rows, not of each group"
    yield text, everything * scores.mean(), whole
    smaller = deviation * ((count - 1) / count.clamp(min=1)).sqrt()
    yield "the deviation divides by n, not n - 1", mean, smaller


def _moments(scores: Tensor, of_row: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and deviation of each row's group, over the rows that count."""
    number = _summed(counts, of_row)
    mean = _summed(counts * scores, of_row) / number.clamp(min=1)
    squares = _summed(counts * (scores - mean).square(), of_row)
    return mean, (squares / (number - 1).clamp(min=1)).sqrt()


def _summed(x: Tensor, of_row: Tensor) -> Tensor:
    sums = torch.zeros(int(of_row.max()) + 1, dtype=x.dtype)
    return sums.index_add(0, of_row, x)[of_row]


def _places(of_row: Tensor) -> tuple[Tensor, Tensor]:
    """The place of each row in its group, and how many rows that has."""
    order = of_row.argsort(stable=True)
    sizes = torch.bincount(of_row)
    starts = sizes.cumsum(0) - sizes
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order)) - starts[of_row[order]]
    return place, sizes[of_row]


def _first_of_most(key: Tensor, of_row: Tensor) -> Tensor:
    """1 in the first row of each group that has the most, 0 elsewhere."""
    most = torch.full((int(of_row.max()) + 1,), int(key.min()) - 1)
    most = most.scatter_reduce(0, of_row, key, "amax")
    rows = (key == most[of_row]).nonzero().flatten()
    found = torch.zeros(len(key), dtype=torch.float64)
    seen: set[int] = set()
    for row in rows.tolist():
        group = int(of_row[row])
        if group not in seen:
            seen.add(group)
            found[row] = 1.0
    return found
