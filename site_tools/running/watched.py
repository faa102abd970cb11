"""A process that runs blocks, held to limits of time, memory and files."""

import os
import select
import signal
import time
from collections.abc import Iterator

from site_tools.confinement import limits
from site_tools.confinement.confine import Confinement
from site_tools.running import blocks_run, results
from site_tools.running.model import Failure, PageToRun
from site_tools.running.results import Done

LOOK = 0.1  # seconds between two looks at what a process takes
ENDED = Failure("ProcessEnded", "the block ended its process", ())


class Stopped(Exception):
    """A process that was stopped or ended, and why."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


class Abandoned(Exception):
    """Nobody waits for the results any more."""


class Watched:
    """One that runs blocks, from its start to its end.

    Args:
        page: The page of the blocks.
        folder: Their working folder.
        listener: As in ``outcomes``.
    """

    def __init__(self, page: PageToRun, folder: str, listener: int) -> None:
        self._page, self._folder, self._listener = page, folder, listener
        self._sent, self._looked = b"", time.monotonic()

    def start(self, run: Iterator[Done], confinement: Confinement) -> None:
        """Let it run, and hand over what each block did.

        Args:
            run: Runs each block as it is asked for the next.
            confinement: What it does not get out of.
        """
        self._pipe, writing = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                blocks_run.hand_over(run, writing, confinement)
            finally:
                os._exit(0)
        os.close(writing)

    def next(self) -> Done:
        """What the next block did.

        Raises:
            Stopped: if it did nothing that is known, and may not go on.
            Abandoned: when nobody waits any more.
        """
        deadline = time.monotonic() + self._page.seconds
        while b"\n" not in self._sent:
            wait = max(min(LOOK, deadline - time.monotonic()), 0)
            ready, _, _ = select.select([self._pipe, self._listener], [], [], wait)
            if self._listener in ready:
                raise Abandoned
            if self._pipe in ready:
                self._receive()
            self._look(deadline)
        line, _, self._sent = self._sent.partition(b"\n")
        try:
            return results.decode(line)
        except ValueError as error:
            raise Stopped(Failure("NoResult", str(error), ())) from None

    def _receive(self) -> None:
        piece = os.read(self._pipe, 1 << 16)
        if not piece:
            raise Stopped(ENDED)
        self._sent += piece
        if len(self._sent) > results.LARGEST:
            told = f"stopped after a result of {results.LARGEST >> 20} MiB"
            raise Stopped(Failure("OutputLimit", told, ()))

    def _look(self, deadline: float) -> None:
        now = time.monotonic()
        if now > deadline:
            told = f"stopped after {self._page.seconds:g} s"
            raise Stopped(Failure("TimeLimit", told, ()))
        if now - self._looked < LOOK:
            return
        self._looked = now
        if limits.resident(self._process) > limits.MEMORY:
            told = f"stopped at {limits.MEMORY >> 30} GiB of memory"
            raise Stopped(Failure("MemoryLimit", told, ()))
        if limits.stored(self._folder, self._process) > limits.FOLDER:
            told = f"stopped at {limits.FOLDER >> 20} MiB of files"
            raise Stopped(Failure("FileLimit", told, ()))

    def end(self) -> None:
        """End it, whether or not it has ended; the page waits until it is gone."""
        os.kill(self._process, signal.SIGKILL)
        os.close(self._pipe)
