"""Runs the blocks of pages in processes of their own, watched and ended in time.

A server has imported torch once; there are two, since blocks run in order and alone
with different hashes and kernels. For each way to run a page one forks a watcher, and
this forks a process for each run, in a hundredth of a second instead of two, with a
folder of its own. Neither runs a block, reads a result, or opens what a block could
have made: the watcher counts lines and hands them on. A server is started with a clean
environment: what the contributor's holds, a token above all, is then in no memory that
a block could read. It ends with the process that started it, a watcher with the
connection on which its page was asked for.
"""

import atexit
import ctypes
import functools
import gc
import importlib
import os
import pkgutil
import platform
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from site_tools.confinement.limits import FOLDER_BYTES, MEMORY, resident, stored
from site_tools.messages import Message, Refusal
from site_tools.run import results
from site_tools.run.compare import join
from site_tools.run.results import (
    ENDED,
    LOST,
    NOT_RUN,
    End,
    Failure,
    PageToRun,
    Process,
    Request,
    Result,
    Run,
)

# To import these is to run them; the second wants verl.
ACTING = ("ppo_ref.__main__", "ppo_ref.verl_plugin")
ALLOWED = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "LD_LIBRARY_PATH",
    "PYTHONHASHSEED",
    "PYTHONDONTWRITEBYTECODE",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "ATEN_CPU_CAPABILITY",  # which processor PyTorch computes for
)
# What Python orders by, and for which processor PyTorch computes: nothing that a page
# shows hangs on it, so one server has this and the other one that.
HASHES_HERE = {"PYTHONHASHSEED": "1"}
HASHES_AND_KERNELS_ELSEWHERE = {"PYTHONHASHSEED": "2", "ATEN_CPU_CAPABILITY": "default"}
PLAIN, TRAINS = b"p", b"t"  # a page, and one whose blocks train
LOOK = 0.1  # seconds between two looks at what a process takes
DIE_WITH_PARENT = 1  # of prctl


class Running:
    """A page under way; the caller may do other work before it waits.

    Its blocks share one namespace, in order; and what a reader copies from each must
    run alone, in a fresh one; the two at the same time. After a block that is stopped
    the later ones do not run.
    """

    def __init__(self, page: PageToRun) -> None:
        self._page = page
        self._in_order = _Answers(Request(page, alone=False))
        self._alone = None if page.once else _Answers(Request(page, alone=True))

    def wait(self) -> Run:
        """The results; every process of the page is gone when this returns."""
        ((outcomes, end),) = self._in_order.wait()
        if self._page.once:
            outcomes = outcomes[1:]
        page = self._page
        blocks, figures = len(page.sources), len(page.expressions)
        in_order = [_as_result(outcome) for outcome in outcomes[:blocks]]
        last = outcomes[blocks : blocks + figures]
        values = dict(zip(page.expressions, last, strict=True))
        failing = outcomes[blocks + figures :]
        for number, outcome in zip(page.failing(), failing, strict=True):
            in_order[number] = _as_result(outcome)
        if self._alone is None:
            drew = not isinstance(end, End) or end.drew
            return Run(tuple(in_order), values, tuple(in_order), drew=drew)
        copies, elsewhere, ends = self._copies(self._alone.wait())
        joined = join(page, copies, in_order)
        drew = any(not isinstance(each, End) or each.drew for each in [end, *ends])
        return Run(tuple(joined), values, tuple(copies), elsewhere, drew)

    def _copies(
        self, alone: list[tuple[list[Any], Any]]
    ) -> tuple[list[Any], dict[str, Any], list[Any]]:
        """The results of the copies, block by block; values; how processes ended."""
        found: dict[int, Any] = {}
        values: dict[str, Any] = {}
        ends = []
        for chain, (outcomes, end) in zip(self._page.chains(), alone, strict=True):
            ends.append(end)
            left = iter(outcomes)
            for number in chain:
                found[number] = _as_result(next(left))
                for expression in self._page.behind(number):
                    values[expression] = next(left)
        return [found[number] for number in sorted(found)], values, ends


class _Answers:
    """The results of one way to run a page, as they arrive."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._over = False  # what is read after this has not run
        self._last: Any = None
        self._connection, theirs = socket.socketpair()
        try:
            with theirs:
                asks = TRAINS if request.trains else PLAIN
                server = start_server(request.elsewhere)
                socket.send_fds(server, [asks], [theirs.fileno()])
            self._connection.sendall(results.encode(request))
        except OSError:  # it has died since
            start_server.cache_clear()
            raise

    def wait(self) -> list[tuple[list[Any], Any]]:
        """Of each process the results of blocks and expressions, and its end.

        Behind a result that is none, or that is missing, nothing has run.
        """
        return list(self.arriving())

    def arriving(self) -> Iterator[tuple[list[Any], Any]]:
        """The same, one process after the other; whoever stops listening ends them."""
        with self._connection, self._connection.makefile("rb") as lines:
            for process in self._request.processes():
                *found, end = [self._next(lines, kind) for kind in process.kinds()]
                yield found, end
            lines.read()  # until the watcher has ended

    def _next(self, lines: BinaryIO, kind: Any) -> Any:
        line = b"" if self._over else lines.readline()
        if not line:
            said_why = self._over or isinstance(self._last, Failure)
            self._over = True
            return NOT_RUN if said_why else LOST
        try:
            self._last = results.decode(line, kind)
        except Refusal as error:
            self._over = True
            return Failure("NoResult", error.message)
        return self._last

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()


def run_each(page: PageToRun) -> Iterator[Result]:
    """The result of each text alone, as it ends; whoever stops listening ends the rest.

    No text may begin with another. None runs behind one that was stopped.
    """
    for outcomes, _ in _Answers(Request(page, alone=True)).arriving():
        yield _as_result(outcomes[0])


def _as_result(outcome: Any) -> Any:
    """The result of a block, also where its process failed before it had any."""
    return Result("", outcome) if isinstance(outcome, Failure) else outcome


def environment(
    variables: Mapping[str, str], elsewhere: bool = False
) -> dict[str, str]:
    """The variables that blocks may know, as they are or in the other setting."""
    names = [n for n in variables if n in ALLOWED or n.startswith("LC_")]
    known = HASHES_HERE | {name: variables[name] for name in names}
    return (
        known
        | {"OMP_NUM_THREADS": "1"}
        | (HASHES_AND_KERNELS_ELSEWHERE if elsewhere else {})
    )


def start_servers() -> None:
    """Start what runs pages, early: it takes two seconds.

    The caller may do other work meanwhile.
    """
    for elsewhere in (False, True):
        start_server(elsewhere)


@functools.cache
def start_server(elsewhere: bool) -> socket.socket:
    """The connection on which pages are asked for, here or in the other setting."""
    ours, theirs = socket.socketpair()
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, "-P", "-m", "site_tools.run.worker"],
            stdin=theirs.fileno(),
            env=environment(os.environ, elsewhere) | {"PYTHONPATH": path},
        )
    atexit.register(server.wait)
    atexit.register(ours.close)  # first
    return ours


def main() -> None:
    """Fork a watcher for each page that is asked for, until nobody can ask."""
    requests = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a watcher
    _preload()
    while True:
        asked, handles, _, _ = socket.recv_fds(requests, 1, 1)
        if not asked:
            return
        if asked == TRAINS:
            _preload_optimizers()
        with socket.socket(fileno=handles[0]) as connection:
            _fork(lambda: _watch(connection, requests))


def _preload() -> None:
    """Import what pages need, so that none of them pays for it."""
    import torch

    import ppo_ref
    from site_tools.run import block  # noqa: F401

    for module in pkgutil.walk_packages(ppo_ref.__path__, "ppo_ref."):
        if module.name not in ACTING:
            importlib.import_module(module.name)
    torch.set_num_threads(1)  # a fork after a parallel operation hangs
    torch.manual_seed(0)  # these two set up what every block would
    repr(torch.rand(2).sum())
    gc.freeze()  # else each fork copies what its collector only looks at


@functools.cache
def _preload_optimizers() -> None:
    """Import what the first optimizer of a process would: it takes a second."""
    importlib.import_module("torch._dynamo")
    gc.freeze()


def _fork(run: Callable[[], None]) -> int:
    """Start a process that does this, and nothing else."""
    process = os.fork()
    if process == 0:
        try:
            run()
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)
    return process


def _watch(connection: socket.socket, requests: socket.socket) -> None:
    """Run a page in one way, one process after the other, and send the results."""
    requests.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile("rb") as request:
        line = request.readline()
    if not line:  # of one that ended before it had asked
        return
    with suppress(ConnectionError):  # nobody waits for the results
        for process in Request.of(line).processes():
            with new_folder() as folder:
                lines, failure = _run_process(process, folder, connection)
            if failure:
                lines.append(results.encode(failure))
            if failure == ENDED and process.chain is not None:
                missing = len(process.kinds()) - len(lines)
                lines += [results.encode(failure)] * missing
            connection.sendall(b"".join(lines))
            if failure not in (None, ENDED):
                return


@contextmanager
def new_folder() -> Iterator[str]:
    """A folder that is gone afterwards, whatever is in it."""
    folder = tempfile.mkdtemp(prefix="page-")
    try:
        yield folder
    finally:  # shutil gives up in folders in folders without end
        remove = ["rm", "-rf", "--", folder]
        if subprocess.run(remove, stderr=subprocess.DEVNULL).returncode:
            # An ordinary user opens what a block has made for nobody, then removes it.
            subprocess.run(["chmod", "-R", "u+rwx", folder], check=False)
            subprocess.run(remove, check=False)


def _run_process(
    process: Process, folder: str, connection: socket.socket
) -> tuple[list[bytes], Failure | None]:
    """The results of one process, as lines; and why there are no more, if so."""
    count, seconds = len(process.kinds()), process.page.seconds
    reading, writing = os.pipe()
    watcher = os.getpid()
    child = _fork(lambda: _serve(process, folder, writing, watcher))
    os.close(writing)
    heard = connection.fileno()
    lines, unread, failure = list[bytes](), b"", None
    began = looked = time.monotonic()
    try:
        while len(lines) < count and not failure:
            ready, _, _ = select.select([reading, heard], [], [], LOOK)
            if heard in ready:  # all that can be read there is the end
                raise ConnectionError
            now = time.monotonic()
            if reading in ready:
                piece = os.read(reading, 1 << 16)
                *whole, unread = (unread + piece).split(b"\n")
                lines += [line + b"\n" for line in whole[: count - len(lines)]]
                began = now if whole else began
                if not piece:
                    failure = ENDED
                elif len(unread) > results.LARGEST:
                    failure = _limit(
                        "Output", "block_result_too_large", results.LARGEST >> 20
                    )
            if not failure and now > began + seconds:
                failure = _limit("Time", "block_stopped_time", f"{seconds:g}")
            if not failure and now > looked + LOOK:
                looked, failure = now, _passed_limit(child, folder)
    finally:
        _end(child)
        os.close(reading)
    return lines, failure if len(lines) < count else None


def _serve(process: Process, folder: str, pipe: int, watcher: int) -> None:
    from site_tools.run import block

    os.setsid()
    if platform.system() == "Linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == watcher:
        block.run_confined(process, folder, pipe)


def _passed_limit(child: int, folder: str) -> Failure | None:
    if resident(child) > MEMORY:
        return _limit("Memory", "block_stopped_memory", MEMORY >> 30)
    if stored(folder, child) > FOLDER_BYTES:
        return _limit("File", "block_stopped_files", FOLDER_BYTES >> 20)
    return None


def _limit(kind: str, key: str, most: object) -> Failure:
    return Failure(f"{kind}Limit", Message(key, {"most": most}))


def _end(child: int) -> None:
    """End a process, whether or not it has ended, and wait until it is gone."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
