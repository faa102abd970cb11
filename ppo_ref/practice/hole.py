"""A hole: its batches, its definition, and the misconceptions about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Generator, Tensor

Result = Tensor | tuple[Tensor, ...]
Committed = TypeVar("Committed", bound=Callable[[Any], Result])

# From the smallest on, so that the first that shows a mistake is easy to read.
SIZES = [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (2, 4), (3, 5), (4, 8)]
LONG = (2, 300)  # where powers of a discount are too small for a float32
SEEDS = 6
LARGE = (64, 512)


@dataclass
class Hole:
    """A function to be written, and all that judges it.

    Attributes:
        name: Of the function, and of its file.
        make: One batch of a size, as a named tuple of the arguments.
        right: The definition, in float64.
        ours: The same by ``ppo_ref``, for the time it takes; None if it has none.
        padding: The arguments that hold any number where the mask is False.
        per_token: True if the result has a number per token, 0 where none counts.
        gradient: The argument that is given with a gradient.
        is_detached: True if that gradient must not come back through the result.
        sizes: Of the batches, each made from several seeds.
        mistakes: The misconceptions, by name, each as the code that commits it.
    """

    name: str
    make: Callable[[Generator, int, int], Any]
    right: Callable[[Any], Result]
    ours: Callable[[Any], object] | None
    padding: tuple[str, ...] = ()
    per_token: bool = False
    gradient: str = ""
    is_detached: bool = False
    sizes: list[tuple[int, int]] = field(default_factory=lambda: SIZES)
    mistakes: dict[str, Callable[[Any], Result]] = field(default_factory=dict)

    def mistake(self, function: Committed) -> Committed:
        """Enter a misconception under the name of its function."""
        self.mistakes[function.__name__.removeprefix("_")] = function
        return function

    def cases(self) -> list[Any]:
        """The batches that a solution is judged on, the smallest first."""
        return [
            self.make(Generator().manual_seed(seed), *size)
            for size in self.sizes
            for seed in range(SEEDS)
        ]

    def large(self) -> Any:
        """The batch on which the time is taken."""
        return self.make(Generator().manual_seed(0), *LARGE)

    def with_other_padding(self, case: Any, added: float = 3) -> Any:
        """The same batch, with other numbers where the mask is False."""
        other = {
            name: torch.where(case.mask, numbers, numbers + added)
            for name in self.padding
            for numbers in [getattr(case, name)]
        }
        return case._replace(**other)


def tenths(rng: Generator, *shape: int) -> Tensor:
    """Numbers from -1.2 to 1.2 that are short to print."""
    return torch.randint(-12, 13, shape, generator=rng) / 10


def log_probs(rng: Generator, *shape: int) -> Tensor:
    """Log-probabilities from -3 to -0.1."""
    return -torch.randint(1, 31, shape, generator=rng) / 10


def prefix_mask(rng: Generator, batch: int, time: int) -> Tensor:
    """True from the first token to the last of each row, which has at least one."""
    lengths = torch.randint(1, time + 1, (batch, 1), generator=rng)
    return torch.arange(time) < lengths


def mask_with_gaps(rng: Generator, batch: int, time: int, least: int = 1) -> Tensor:
    """True at some tokens, of which there are at least so many in the batch."""
    mask = torch.rand(batch, time, generator=rng) < 0.45
    if mask.sum() < least:
        mask.view(-1)[:least] = True
    return mask


def rows_with_gaps(rng: Generator, batch: int, time: int) -> Tensor:
    """True at some tokens, at least one in each row."""
    mask = torch.rand(batch, time, generator=rng) < 0.6
    first = torch.randint(0, time, (batch,), generator=rng)
    mask[torch.arange(batch), first] = True
    return mask


def counted(x: Tensor, mask: Tensor) -> Tensor:
    """The numbers with 0 where the mask is False."""
    return torch.where(mask, x, 0)


def after(x: Tensor) -> Tensor:
    """The number to the right of each; 0 behind the end of the row."""
    return torch.nn.functional.pad(x[:, 1:], (0, 1))


def before(x: Tensor) -> Tensor:
    """The number to the left of each; 0 before the first."""
    return torch.nn.functional.pad(x[:, :-1], (1, 0))


def backwards(steps: Tensor, decay: float) -> Tensor:
    """Add to each step what was carried from its right, times the decay."""
    carried, sums = torch.zeros(steps.shape[0], dtype=steps.dtype), []
    for step in reversed(steps.unbind(1)):
        carried = step + decay * carried
        sums.append(carried)
    return torch.stack(sums[::-1], dim=1)


def last_token(mask: Tensor) -> Tensor:
    """True at the last token that counts of each row."""
    return mask & ~after(mask.int()).bool()
