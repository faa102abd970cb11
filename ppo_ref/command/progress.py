"""How far a run is: one line rewritten on a terminal, a line now and then elsewhere."""

import math
import shutil
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TextIO

BAR = 10  # characters: the line fits 80 columns
LINES = 10  # of each stage where they stay


class Step(NamedTuple):
    """One step of a run: of which stage, the how manyth of how many, its figures."""

    stage: str
    done: int
    total: int
    figures: Mapping[str, float]


class Progress:
    """Shows steps as they come.

    Args:
        stream: Where to.
        clock: Gives seconds.
    """

    def __init__(
        self, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.stream, self.clock = stream, clock
        self.rewrites = stream.isatty()
        self._stage, self._begun, self._first = "", 0.0, 0

    def show(self, step: Step) -> None:
        """Show a step, if it is worth a line.

        Args:
            step: The one that has just been done.
        """
        if step.stage != self._stage:
            self.end()
            self._stage, self._begun, self._first = step.stage, self.clock(), step.done
        here = step.done - self._first
        seconds = (self.clock() - self._begun) / here if here else math.nan
        left = seconds * (step.total - step.done)
        if self.rewrites:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r{line(step, left)[:width]:{width}}")
        elif step.done == step.total or step.done % -(-step.total // LINES) == 0:
            self.stream.write(f"{line(step, left)}\n")
        self.stream.flush()

    def end(self) -> None:
        """Leave the line that was rewritten."""
        if self._stage and self.rewrites:
            self.stream.write("\n")
        self._stage = ""


def line(step: Step, left: float) -> str:
    """A step in words.

    Args:
        step: Which.
        left: Seconds that the stage will still take; not shown if not a number.

    Returns:
        One line.

    Example:
        >>> print(line(Step("PPO", 75, 150, {"score": 0.9, "held_out": 0.8}), 63.2))
        PPO          [#####     ]  75/150  score 0.900  held_out 0.800  1:04 left
    """
    full = "#" * (BAR * step.done // step.total)
    count = f"{step.done:>{len(str(step.total))}}/{step.total}"
    figures = [f"{name} {value:.3f}" for name, value in step.figures.items()]
    parts = [f"{step.stage:12} [{full:{BAR}}] {count}", *figures]
    if not math.isnan(left) and step.done < step.total:
        minutes, seconds = divmod(math.ceil(left), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return "  ".join(parts)
