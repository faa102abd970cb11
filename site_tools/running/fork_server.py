"""The process that has imported torch once, and forks what runs a page.

A fork takes a hundredth of a second, torch two seconds. It is started with a clean
environment: what the contributor's holds, a token above all, is then in no memory that
a block could read. Its standard input is the socket on which pages are asked for.
"""

import atexit
import functools
import gc
import importlib
import os
import pkgutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping

# To import these is to run them; the second wants verl.
ACTING = ("ppo_ref.__main__", "ppo_ref.verl_plugin")
KEPT = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "PYTHONHASHSEED",
    "PYTHONDONTWRITEBYTECODE",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "TZ",
)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """What of the environment blocks may know.

    Example:
        >>> environment({"LANG": "C", "LC_ALL": "C", "GITHUB_TOKEN": "x"})
        {'LANG': 'C', 'LC_ALL': 'C', 'OMP_NUM_THREADS': '1'}
    """
    kept = {n: v for n, v in given.items() if n in KEPT or n.startswith("LC_")}
    return kept | {"OMP_NUM_THREADS": "1"}


def ask() -> socket.socket:
    """A connection to a new process that will run a page."""
    requests = _started()
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            socket.send_fds(requests, [b"p"], [theirs.fileno()])
    except OSError:  # it has died since
        _started.cache_clear()
        ours.close()
        raise
    return ours


@functools.cache
def _started() -> socket.socket:
    ours, theirs = socket.socketpair()
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "site_tools.running.fork_server"],
        stdin=theirs.fileno(),
        env=environment(os.environ) | {"PYTHONPATH": path},
    )
    theirs.close()

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def main() -> None:
    """Fork for each request, until nobody can make any."""
    requests = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _preload()
    while True:
        asked, given, _, _ = socket.recv_fds(requests, 1, 1)
        if not asked:
            return
        if os.fork() == 0:
            requests.close()
            _run(given[0])
        os.close(given[0])


def _preload() -> None:
    """Import what pages need, so that none of them pays for it."""
    import torch

    import ppo_ref
    from site_tools.running import warden  # noqa: F401

    for module in pkgutil.walk_packages(ppo_ref.__path__, "ppo_ref."):
        if module.name not in ACTING:
            importlib.import_module(module.name)
    # Seconds, at the first optimizer otherwise.
    importlib.import_module("torch._dynamo")
    torch.set_num_threads(1)  # a fork after a parallel operation hangs
    gc.freeze()  # else each fork copies what its collector only looks at


def _run(answers: int) -> None:
    from site_tools.running import model, warden

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        with os.fdopen(os.dup(answers), "rb") as asked:
            page = model.read(asked.readline())
        warden.serve(page, answers)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
