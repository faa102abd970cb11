"""Seconds of the phases of a run, each timed where it is called."""

from collections.abc import Callable, Iterable
from typing import Any


class Phases:
    """The seconds of each phase so far, by a clock, over all its calls."""

    def __init__(self, names: Iterable[str], clock: Callable[[], float]) -> None:
        self.seconds = dict.fromkeys(names, 0.0)
        self._clock = clock

    def timed(self, phase: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, whose time is added to that of a phase."""

        def run(*given: Any, **named: Any) -> Any:
            start = self._clock()
            try:
                return work(*given, **named)
            finally:
                self.seconds[phase] += self._clock() - start

        return run
