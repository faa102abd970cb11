"""Ctrl-C asks a run to stop where it stands whole; a second one does not wait."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # the exit code
TOLD = "\nStopping after this step; Ctrl-C again stops at once.\n"


class Asked:
    """Whether to stop, as the user has asked; also how the signal is handled.

    Args:
        tells: Whether to answer; of several processes one is enough.
    """

    def __init__(self, tells: bool) -> None:
        self.to_stop, self._tells = False, tells

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal, obey the second."""
        if self.to_stop:
            raise KeyboardInterrupt
        self.to_stop = True
        if self._tells:
            sys.stderr.write(TOLD)


@contextmanager
def asked(tells: bool = True) -> Iterator[Asked]:
    """While this lasts, Ctrl-C is noted rather than raised.

    Args:
        tells: As in ``Asked``.

    Returns:
        A context, in which ``to_stop`` tells.

    Example:
        >>> with asked() as question:
        ...     question.to_stop
        False
    """
    question = Asked(tells)
    before = signal.signal(signal.SIGINT, question)
    try:
        yield question
    finally:
        signal.signal(signal.SIGINT, before)
