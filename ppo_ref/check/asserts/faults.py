"""Faults: differences beyond rounding and chance, and the words for them."""

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from torch import Tensor

# Per unit of size. Two kernels that sum in another order differ in the last digits of
# their dtype; over a vocabulary and a long sequence that comes to some hundred of its
# steps in float32, to a dozen in the two short ones.
TOLERANCE = {
    torch.float64: 1e-9,
    torch.float32: 1e-4,
    torch.float16: 2e-2,
    torch.bfloat16: 1e-1,
}
_WIDTH = 52  # a line that fits a phone
_INDEX = re.compile(r"(?<=[\d:]), (?=[-\d])")  # [0, 3] and [:, -T:] stay whole
_TYPE = "AssertionError: "  # what Python writes before the text


def tolerance_for(*tensors: Tensor) -> float:
    """The tolerance of the coarsest dtype among floating-point tensors."""
    return max(TOLERANCE[tensor.dtype] for tensor in tensors)


def beyond(difference: Tensor, tolerance: float, *sizes: Tensor) -> Tensor:
    """True where a difference is more than rounding; nan is.

    The tolerance is per unit of size: of numbers that went in, but 1 at least.
    """
    size = torch.ones_like(difference)
    for other in sizes:
        size = torch.maximum(size, other.abs().to(size.dtype))
    return ~(difference.abs() <= tolerance * size)


def fail(what: str, cause: str) -> NoReturn:
    """End with what was seen, its usual cause, and the remedy, in short lines."""
    raise AssertionError(lines(f"{_TYPE}{what}: {cause}").removeprefix(_TYPE))


def lines(text: str, indent: int = 0) -> str:
    """A text in lines that fit a phone, indices whole; all but the first indented."""
    text = textwrap.fill(
        _INDEX.sub(",\N{NO-BREAK SPACE}", text),
        _WIDTH,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return text.replace("\N{NO-BREAK SPACE}", " ")


def first(where: Tensor) -> tuple[int, ...]:
    """The first slot that is True."""
    return tuple(where.nonzero()[0].tolist())


def place(name: str, where: Tensor) -> str:
    """The first slot that is True, as one writes it: ``values[0, 3]``."""
    return f"{name}{list(first(where))}"


def shown(name: str, x: Tensor, where: Tensor, digits: str = ".4f") -> str:
    """The first number where this is True: ``values[0, 3] is 0.5000``."""
    return f"{place(name, where)} is {float(x[first(where)]):{digits}}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things, as in ``1 row`` and ``2 rows``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {plural or noun + 's'}"


def described(x: object) -> str:
    """The kind and shape of a thing that came in place of another tensor."""
    if not isinstance(x, Tensor):
        return type(x).__name__
    return f"{str(x.dtype).removeprefix('torch.')} of shape {list(x.shape)}"


def require_like(what: str, x: Any, response_mask: Tensor) -> None:
    """Refuse what is no number per token; ``what`` is what it is or comes from."""
    fits = isinstance(x, Tensor) and x.shape == response_mask.shape
    if not (fits and x.is_floating_point()):
        raise TypeError(
            f"{what} a floating-point tensor of shape [batch, time] = "
            f"{list(response_mask.shape)} like response_mask, got {described(x)}"
        )


@contextmanager
def same_randomness() -> Iterator[None]:
    """Put the random state back afterwards: dropout drops the same each time."""
    # All GPUs by name: without names torch warns where there are several.
    started = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    count = torch.cuda.device_count() if started else 0
    with torch.random.fork_rng(devices=range(count)):
        yield
