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
    copied: str | None = None  # where a reader who copies it gets another text
    apart: bool = False  # from the one namespace of the page


@dataclass(frozen=True)
class Failure:
    """An exception: its type and text, and the line of each block it went through."""

    type: str
    message: str
    lines: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Result:
    """What a block printed and drew, by name, and the exception that ended it."""

    printed: str
    failure: Failure | None = None
    plots: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Run:
    """Per block what it did and what its copied text did, per expression a number."""

    results: tuple[Result, ...]
    values: tuple[int | float | Failure, ...]
    copies: tuple[Result, ...]


class Running:
    """A page under way in its child; whoever waits for it may do other work first.

    The page has one namespace; and what a reader copies from a block must run alone,
    in a fresh one. After a block that hangs or kills its process the later ones are
    reported as not run.

    Args:
        sources: The blocks of the page.
        expressions: The expressions bound to figures, evaluated after all blocks.
        seed: Seed of the random number generators, set before each fresh start.
        seconds: Longest time for one block or expression.
        once: Whether no block runs alone, as in a notebook, whose blocks may draw.
        context: How the child starts; from the fork server unless given.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        expressions: Sequence[str],
        seed: int,
        seconds: float = SECONDS_PER_BLOCK,
        once: bool = False,
        context: Any = None,
    ) -> None:
        context = context or _fork_server()
        self._sources, self._count = sources, 2 * len(sources) + len(expressions)
        self._seconds = seconds
        self._folder = tempfile.TemporaryDirectory()
        self._results, theirs = context.Pipe(duplex=False)
        page = (list(sources), list(expressions), seed, self._folder.name, once)
        self._child = context.Process(target=_child, args=(theirs, *page), daemon=True)
        self._child.start()
        theirs.close()

    def wait(self) -> Run:
        """The results; the child is gone when this returns."""
        try:
            received = _receive(self._results, self._count, self._seconds)
        finally:
            self._end()
        blocks = len(self._sources)
        ran = [Result("", r) if isinstance(r, Failure) else r for r in received]
        alone, together = ran[:blocks], ran[blocks : 2 * blocks]
        copies = [a or t for a, t in zip(alone, together, strict=True)]
        results = map(_join, self._sources, copies, together)
        return Run(tuple(results), tuple(received[2 * blocks :]), tuple(copies))

    def _end(self) -> None:
        if self._child.pid:  # 0 would name the group of this process
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.kill()
        self._child.join()
        self._folder.cleanup()


def _fork_server() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["site_tools.running.sandbox"])
    return context


def _join(source: Source, alone: Result, together: Result | None) -> Result:
    """What a block did: alone if it runs alone, unless it only fails among others."""
    if together is None:
        return alone
    if source.continues or source.session:
        return together
    broken = together.failure and together.failure.type != NOT_RUN
    return together if broken and not alone.failure else alone


def _child(
    connection: Connection,
    sources: list[Source],
    expressions: list[str],
    seed: int,
    folder: str,
    once: bool,
) -> None:
    # Imported here: the parent must not pay for torch.
    from site_tools.running.sandbox import serve

    serve(connection, sources, expressions, seed, folder, once)


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
