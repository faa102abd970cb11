"""Runs the blocks of one page in a watched child process.

The child is forked from a server that has imported torch once, which takes a
hundredth of a second instead of two. A signal cannot stop a torch call, so the
parent watches the clock and kills the child.
"""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

SECONDS_PER_BLOCK = 20.0
NOT_RUN = "NotRun"


@dataclass(frozen=True)
class Source:
    """A block as the child needs it: its code, and how it is to run."""

    text: str
    session: bool = False
    continues: bool = False
    raises: bool = False


@dataclass(frozen=True)
class Failure:
    """An exception: its type and text, and the line of each block it went through."""

    type: str
    message: str
    lines: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Result:
    """What a block printed, and the exception that ended it."""

    printed: str
    failure: Failure | None = None


@dataclass(frozen=True)
class Run:
    """A result per block, and a number or a failure per expression."""

    results: tuple[Result, ...]
    values: tuple[int | float | Failure, ...]


class Running:
    """A page under way in its child; whoever waits for it may do other work first.

    The page has one namespace; a block that does not continue the earlier ones must
    also run alone, as a reader pastes it. After a block that hangs or kills its
    process the later ones are reported as not run.

    Args:
        sources: The blocks of the page.
        expressions: The expressions bound to figures, evaluated after all blocks.
        seed: Seed of the random number generators, set before each fresh start.
        seconds: Longest time for one block or expression.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        expressions: Sequence[str],
        seed: int,
        seconds: float = SECONDS_PER_BLOCK,
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["site_tools.running.sandbox"])
        self._blocks, self._count = len(sources), 2 * len(sources) + len(expressions)
        self._seconds = seconds
        self._folder = tempfile.TemporaryDirectory()
        self._results, theirs = context.Pipe(duplex=False)
        arguments = (theirs, list(sources), list(expressions), seed, self._folder.name)
        self._child = context.Process(target=_child, args=arguments, daemon=True)
        self._child.start()
        theirs.close()

    def wait(self) -> Run:
        """The results; the child is gone when this returns."""
        try:
            received = _receive(self._results, self._count, self._seconds)
        finally:
            self._end()
        n = self._blocks
        results = map(_join, received[:n], received[n : 2 * n])
        return Run(tuple(results), tuple(received[2 * n :]))

    def _end(self) -> None:
        if self._child.pid:  # 0 would name the group of this process
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.kill()
        self._child.join()
        self._folder.cleanup()


def _join(alone: Result | Failure | None, together: Result | Failure | None) -> Result:
    """What a block did: alone if it runs alone, unless it only fails among others."""
    first, second = (
        Result("", result) if isinstance(result, Failure) else result
        for result in (alone, together)
    )
    if first is None or second is None:
        return first or second or Result("")
    broken = second.failure and second.failure.type != NOT_RUN
    return second if broken and not first.failure else first


def _child(
    connection: Connection,
    sources: list[Source],
    expressions: list[str],
    seed: int,
    folder: str,
) -> None:
    # Imported here: the parent must not pay for torch.
    from site_tools.running.sandbox import serve

    serve(connection, sources, expressions, seed, folder)


def _receive(connection: Connection, count: int, seconds: float) -> list[Any]:
    received: list[Any] = []
    while len(received) < count:
        try:
            if not connection.poll(seconds):
                received.append(_stopped("TimeLimit", f"stopped after {seconds:g} s"))
                break
            received.append(connection.recv())
        except EOFError:
            received.append(_stopped("ProcessEnded", "the block ended its process"))
            break
    missing = count - len(received)
    return received + [_stopped(NOT_RUN, "a block above did not end")] * missing


def _stopped(kind: str, message: str) -> Failure:
    return Failure(kind, message, ())
