"""Runs the blocks of one page in watched processes of their own.

These are forked from a server that has imported torch once, which takes a hundredth
of a second instead of two. A signal cannot stop a torch call, so another process
watches the clock and kills them.
"""

import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

from site_tools.running import fork_server, results
from site_tools.running.model import (
    NOT_RUN,
    SECONDS_PER_BLOCK,
    UNSEEDED,
    Failure,
    PageToRun,
    Result,
    Run,
    Source,
)


class Running:
    """A page under way; whoever waits for it may do other work first.

    The page has one namespace; and what a reader copies from a block must run alone,
    in a fresh one. After a block that hangs or kills its process the later ones are
    reported as not run.

    Args:
        sources: The blocks of the page.
        expressions: The expressions bound to figures.
        seed: As in ``PageToRun``, like the rest.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        expressions: Sequence[str],
        seed: int,
        seconds: float = SECONDS_PER_BLOCK,
        once: bool = False,
        cuda: bool = False,
    ) -> None:
        page = PageToRun(tuple(sources), tuple(expressions), seed, seconds, once, cuda)
        self._page = page
        self._answers = fork_server.ask()
        self._answers.sendall(json.dumps(asdict(page)).encode() + b"\n")

    def wait(self) -> Run:
        """The results; every process of the page is gone when this returns."""
        count = 2 * len(self._page.sources) + len(self._page.expressions)
        try:
            received = results.receive(self._answers, count)
        finally:
            self._end()
        blocks = len(self._page.sources)
        ran = [Result("", r) if isinstance(r, Failure) else r for r in received]
        alone, together = ran[:blocks], ran[blocks : 2 * blocks]
        copies = [a or t for a, t in zip(alone, together, strict=True)]
        done = map(_join, self._page.sources, copies, together)
        return Run(tuple(done), tuple(received[2 * blocks :]), tuple(copies))

    def _end(self) -> None:
        with suppress(OSError):
            self._answers.shutdown(socket.SHUT_WR)
            while self._answers.recv(1 << 16):
                pass
        self._answers.close()

    def __del__(self) -> None:
        if hasattr(self, "_answers"):
            self._answers.close()


def _join(source: Source, alone: Result, together: Result | None) -> Result:
    """What a block did: alone if it runs alone, unless it only fails among others."""
    if together is None:
        return alone
    if source.continues or source.session:
        return together
    if alone.failure or together.failure == NOT_RUN:
        return alone
    if together.failure:
        return together
    if together.printed == alone.printed:
        return alone
    told = f"with another seed it prints\n{together.printed.rstrip()}"
    return Result(alone.printed, Failure(UNSEEDED, told, ()))
