"""Ctrl-C asks a run to stop where it stands whole; a second one does not wait."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # the exit code
TOLD = "\nStopping after this step; Ctrl-C again stops at once.\n"


class Asked:
    """Whether to stop, as the user has asked; also how the signal is handled."""

    def __init__(self) -> None:
        self.to_stop = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal, obey the second."""
        if self.to_stop:
            raise KeyboardInterrupt
        self.to_stop = True
        sys.stderr.write(TOLD)


@contextmanager
def asked() -> Iterator[Asked]:
    """While this lasts, Ctrl-C is noted rather than raised.

    Returns:
        A context, in which ``to_stop`` tells.

    Example:
        >>> with asked() as question:
        ...     question.to_stop
        False
    """
    question = Asked()
    before = signal.signal(signal.SIGINT, question)
    try:
        yield question
    finally:
        signal.signal(signal.SIGINT, before)
