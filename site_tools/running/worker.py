"""Runs the blocks of pages in processes of their own, watched and ended in time.

A server has imported torch once and forks a process for each run, which takes a
hundredth of a second instead of two. It watches all of them itself and runs no block,
so what a block does to its process is not done to what watches it; a signal could not
stop a call of torch, so they are killed. It never reads a result: it counts lines and
hands them on. It is started with a clean environment: what the contributor's holds, a
token above all, is then in no memory that a block could read.

The server ends with the process that started it, a page with the connection on which
it was asked for: no process and no folder is left behind.
"""

import atexit
import ctypes
import functools
import gc
import importlib
import os
import pkgutil
import platform
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from site_tools.confinement import limits
from site_tools.running import results
from site_tools.running.results import (
    ENDED,
    LARGEST,
    LOST,
    NOT_RUN,
    SECONDS_PER_BLOCK,
    Failure,
    PageToRun,
    Result,
    Run,
    Source,
)
from site_tools.say import Message, Refusal

# To import these is to run them; the second wants verl.
ACTING = ("ppo_ref.__main__", "ppo_ref.verl_plugin")
ALLOWED = (
    *("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH"),
    *("PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE"),
    *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"),
)
LOOK = 0.1  # seconds between two looks at what a process takes
DIE_WITH_PARENT = 1  # of prctl


class Running:
    """A page under way; the caller may do other work before it waits.

    Its blocks share one namespace, in order; and what a reader copies from each must
    run alone, in a fresh one. After a block that is stopped the later ones do not run.
    The arguments are those of ``PageToRun``.
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
        self._answers, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(_server(), [b"p"], [theirs.fileno()])
            self._answers.sendall(page.line())
        except OSError:  # it has died since
            _server.cache_clear()
            raise

    def wait(self) -> Run:
        """The results; every process of the page is gone when this returns."""
        blocks = len(self._page.sources)
        count = 2 * blocks + len(self._page.expressions)
        with self._answers, self._answers.makefile("rb") as lines:
            outcomes = _outcomes(lines.readlines(), count)
        ended = [Result("", o) if isinstance(o, Failure) else o for o in outcomes]
        alone, in_order = ended[:blocks], ended[blocks : 2 * blocks]
        copies = [a or b for a, b in zip(alone, in_order, strict=True)]
        joined = map(_join, self._page.sources, copies, in_order)
        return Run(tuple(joined), tuple(outcomes[2 * blocks :]), tuple(copies))

    def __del__(self) -> None:
        if hasattr(self, "_answers"):
            self._answers.close()


def _outcomes(lines: Sequence[bytes], count: int) -> list[Any]:
    """So many results; behind one that is none, or that is missing, nothing has run."""
    outcomes: list[Any] = []
    for line in lines[:count]:
        try:
            outcomes.append(results.decode(line))
        except Refusal as error:
            outcomes.append(Failure("NoResult", error.message))
            break
    else:
        outcomes += [LOST][: count - len(lines)]
    return outcomes + [NOT_RUN] * (count - len(outcomes))


def _join(source: Source, alone: Result, in_order: Result | None) -> Result:
    """What a block did: alone if it runs alone, unless it fails only among others."""
    if in_order is None:
        return alone
    if source.continues or source.session:
        return in_order
    if alone.failure or in_order.failure == NOT_RUN:
        return alone
    if in_order.failure:
        return in_order
    if in_order.printed == alone.printed:
        return alone
    printed = {"printed": in_order.printed.rstrip()}
    unseeded = Failure("Unseeded", Message("block_unseeded", printed))
    return Result(alone.printed, unseeded)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Those variables that blocks may know.

    Example:
        >>> environment({"LANG": "C", "LC_ALL": "C", "GITHUB_TOKEN": "x"})
        {'LANG': 'C', 'LC_ALL': 'C', 'OMP_NUM_THREADS': '1'}
    """
    names = [n for n in variables if n in ALLOWED or n.startswith("LC_")]
    return {name: variables[name] for name in names} | {"OMP_NUM_THREADS": "1"}


@functools.cache
def _server() -> socket.socket:
    """The connection on which pages are asked for."""
    ours, theirs = socket.socketpair()
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "site_tools.running.worker"],
        stdin=theirs.fileno(),
        env=environment(os.environ) | {"PYTHONPATH": path},
    )
    theirs.close()

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


class Page:
    """A page in the server: its processes, one after the other.

    Args:
        answers: The connection on which it was asked for, and that gets the results.
    """

    def __init__(self, answers: socket.socket) -> None:
        with os.fdopen(os.dup(answers.fileno()), "rb") as lines:
            self.page = PageToRun.of(lines.readline())
        self.answers, self.ready = answers, b""
        answers.setblocking(False)
        self.folder = tempfile.mkdtemp(prefix="page-")
        blocks = len(self.page.sources)
        # Which block runs, all in order for None; how many results that gives.
        apart = [] if self.page.once else [(number, 1) for number in range(blocks)]
        missing = 2 * blocks + len(self.page.expressions) - len(apart)
        self.runs = deque[tuple[int | None, int]]([*apart, (None, missing)])
        self.child, self.pipe, self.unread = 0, -1, b""
        self.start()

    def start(self) -> None:
        """Begin the next run; after the last one nothing but its results is left."""
        if not self.runs:
            _remove(self.folder)
            return
        number, self.missing = self.runs.popleft()
        self.pipe, writing = os.pipe()
        server = os.getpid()
        self.child = os.fork()
        if self.child == 0:
            try:
                self._run(number, writing, server)
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(0)
        os.close(writing)
        self.began = self.looked = time.monotonic()

    def _run(self, number: int | None, pipe: int, server: int) -> None:
        from site_tools.running import block

        os.setsid()
        if platform.system() == "Linux":
            ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == server:
            block.serve(self.page, number, self.folder, pipe)

    def read(self) -> None:
        """Take the results that have come."""
        piece = os.read(self.pipe, 1 << 16)
        *lines, self.unread = (self.unread + piece).split(b"\n")
        lines = lines[: self.missing]
        self.ready += b"".join(line + b"\n" for line in lines)
        self.missing -= len(lines)
        if lines:
            self.began = time.monotonic()
        if not self.missing:
            self.end_run()
            self.start()
        elif not piece:
            self.stop(ENDED)
        elif len(self.unread) > LARGEST:
            self.stop(_limit("Output", "block_result_too_large", LARGEST >> 20))

    def look(self) -> None:
        """Stop the run if it takes more time, memory or files than it may."""
        now = time.monotonic()
        if now > self.began + self.page.seconds:
            self.stop(_limit("Time", "block_stopped_time", f"{self.page.seconds:g}"))
        elif now > self.looked + LOOK:
            self.looked = now
            if limits.resident(self.child) > limits.MEMORY:
                most = limits.MEMORY >> 30
                self.stop(_limit("Memory", "block_stopped_memory", most))
            elif limits.stored(self.folder, self.child) > limits.FOLDER:
                most = limits.FOLDER >> 20
                self.stop(_limit("File", "block_stopped_files", most))

    def stop(self, failure: Failure) -> None:
        """End the run, and all further ones if it did not end by itself."""
        self.end_run()
        left = self.missing - 1
        if failure != ENDED:
            left += sum(count for _, count in self.runs)
            self.runs.clear()
        self.ready += results.encode(failure) + results.encode(NOT_RUN) * left
        self.start()

    def end_run(self) -> None:
        """End the process, whether or not it has ended, and wait until it is gone."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child, signal.SIGKILL)
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.pipe)
        self.child, self.pipe, self.unread = 0, -1, b""

    def go_on(self, with_what: object, events: int) -> bool:
        """Take results that have come, or hand on some; False if nobody waits."""
        if with_what == self.pipe:
            self.read()
        elif not events & selectors.EVENT_WRITE:
            return False  # all that can be read there is the end
        else:
            try:
                self.ready = self.ready[self.answers.send(self.ready) :]
            except BlockingIOError:
                pass
            except OSError:
                return False
        return True

    def abandon(self) -> None:
        """End all of it: nobody waits for the results."""
        self.runs.clear()
        if self.child:
            self.end_run()
            _remove(self.folder)
        self.answers.close()


def _limit(kind: str, key: str, most: object) -> Failure:
    return Failure(f"{kind}Limit", Message(key, {"most": most}))


def _remove(folder: str) -> None:
    with suppress(RecursionError):  # folders in folders, without end
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.exists(folder):
        subprocess.run(["rm", "-rf", "--", folder], check=False)


def main() -> None:
    """Run pages as they are asked for, until nobody can ask for any."""
    requests = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    _preload()
    pages: list[Page] = []
    try:
        while _turn(requests, pages):
            pass
    finally:
        for page in pages:
            page.abandon()


def _turn(requests: socket.socket, pages: list[Page]) -> bool:
    """Do what is to do now; whether anybody can still ask for a page."""
    with selectors.DefaultSelector() as ready:
        ready.register(requests, selectors.EVENT_READ)
        for page in pages:
            sends = selectors.EVENT_WRITE if page.ready else 0
            ready.register(page.answers, selectors.EVENT_READ | sends, page)
            if page.child:
                ready.register(page.pipe, selectors.EVENT_READ, page)
        happened = ready.select(LOOK if pages else None)
    for key, events in happened:
        if key.fileobj is requests:
            asked, handles, _, _ = socket.recv_fds(requests, 1, 1)
            if not asked:
                return False
            with suppress(ValueError):  # of one that ended before it had asked
                pages.append(Page(socket.socket(fileno=handles[0])))
        elif key.data in pages and not key.data.go_on(key.fileobj, events):
            key.data.abandon()
            pages.remove(key.data)
    for page in list(pages):
        if page.child:
            page.look()
        elif not page.ready:
            page.answers.close()
            pages.remove(page)
    return True


def _preload() -> None:
    """Import what pages need, so that none of them pays for it."""
    import torch

    import ppo_ref
    from site_tools.running import block  # noqa: F401

    for module in pkgutil.walk_packages(ppo_ref.__path__, "ppo_ref."):
        if module.name not in ACTING:
            importlib.import_module(module.name)
    # Seconds, at the first optimizer otherwise.
    importlib.import_module("torch._dynamo")
    torch.set_num_threads(1)  # a fork after a parallel operation hangs
    gc.freeze()  # else each fork copies what its collector only looks at


if __name__ == "__main__":
    main()
