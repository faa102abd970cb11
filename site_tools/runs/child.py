"""One run in a process of its own, which tells the one that started it how it goes."""

import platform
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import torch

from site_tools import ledger
from site_tools.runs import storing
from site_tools.runs.model import Run

Produce = Callable[[str], Iterable[Mapping[str, Any]]]
TOLD_EVERY = 10  # iterations
THREADS = 1  # the same sums on every machine, and two runs do not quarrel


class Told(NamedTuple):
    """How a run goes, in words, and whether that was the last of it."""

    text: str
    ended: bool = False
    failed: bool = False


class Child:
    """A run under way; ``pipe`` is ready when there is something to hear.

    Args:
        path: Where the run is stored once it has ended.
        name: Of the run.
        run: How it is made.
        produce: Gives what it measures; importable by other processes.
        package: The hash of the code it rests on.
    """

    def __init__(
        self, path: Path, name: str, run: Run, produce: Produce, package: str
    ) -> None:
        context = get_context("forkserver")
        self.name = name
        self.pipe, theirs = context.Pipe(duplex=False)
        job = (theirs, path, name, run, produce, package)
        self.process = context.Process(target=_run, args=job, daemon=True)
        self.process.start()
        theirs.close()

    def hear(self) -> Told:
        """The next that it tells, also that it has died."""
        try:
            told: Told = self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            return Told(f"its process ended with {code}", ended=True, failed=True)
        return told

    def end(self) -> None:
        """End it, wherever it is."""
        self.process.terminate()
        self.process.join()


def _run(
    pipe: Connection, path: Path, name: str, run: Run, produce: Produce, package: str
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this one ends it
    torch.set_num_threads(THREADS)
    try:
        lines = list(_telling(pipe, storing.numbered(name, produce(name))))
        header = storing.header(name, run, package) | {
            "torch": version("torch"),
            "machine": f"{platform.machine()} CPU, {THREADS} thread",
        }
        content = storing.text(header, lines).encode()
        ledger.store(path, content)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        pipe.send(Told(told, ended=True, failed=True))
    else:
        pipe.send(Told(f"stored, {len(content) / 1000:.0f} kB", ended=True))


def _telling(
    pipe: Connection, lines: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield line
        if "record" not in line and line["iteration"] % TOLD_EVERY == 0:
            pipe.send(Told(f"iteration {line['iteration']}"))
