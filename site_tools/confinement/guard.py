"""Refusals by Python itself, which tell a block in words what it may not do."""

import os
import pwd
import socket
from collections.abc import Iterable
from typing import Any

from site_tools.confinement.files import Reach
from site_tools.messages import Message

STARTS = (
    "subprocess.Popen",
    "os.system",
    "os.fork",
    "os.forkpty",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "pty.spawn",
)
CONTACTS = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
)
# The event, and which of its arguments are paths that change.
CHANGES = {
    "os.remove": [0],
    "os.rmdir": [0],
    "os.mkdir": [0],
    "os.truncate": [0],
    "os.chmod": [0],
    "os.chown": [0],
    "os.utime": [0],
    "os.rename": [0, 1],
    "os.link": [0, 1],
    "os.symlink": [1],
}
STAYS_HERE = (-1, socket.AF_UNIX)  # families of sockets; -1: of one that is open
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class OutOfReach(PermissionError):
    """Says what a block does not do."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.message = Message(key, values)
        super().__init__(str(self.message))


class Guard:
    """An audit hook of this process, which cannot be taken away again.

    Of the contributor's home nothing is read but what is in reach.
    """

    def __init__(self, within: Reach, home: str | None = None) -> None:
        self._writes = _real([*within.writes, *within.devices])
        self._reads = _real(within.reads)
        self._lists = _real(within.lists)
        if home is None:
            home = pwd.getpwuid(os.getuid()).pw_dir
        self._home = os.path.realpath(home)
        self._process = os.getpid()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse what is out of reach."""
        if event == "open":
            path, _, flags = arguments
            self._check(path, writes=bool((flags or 0) & WRITES))
        elif event in ("os.listdir", "os.scandir"):
            self._check(arguments[0] or ".", writes=False, lists=True)
        elif event in STARTS:
            raise OutOfReach("block_process")
        elif event in CONTACTS:
            raise OutOfReach("block_network")
        elif event == "socket.__new__":
            if arguments[1] not in STAYS_HERE:
                raise OutOfReach("block_network")
        elif event == "os.kill" and arguments[0] != self._process:
            raise OutOfReach("block_signal")
        elif event in CHANGES:
            for at in CHANGES[event]:
                self._check(arguments[at], writes=True)

    def _check(self, path: Any, writes: bool, lists: bool = False) -> None:
        if isinstance(path, int):
            return  # opened before, and judged then
        real = os.path.realpath(os.fsdecode(path))
        if writes and not _within(real, self._writes):
            raise OutOfReach("block_writes_outside", path=real)
        if lists and real in self._lists:
            return
        if not _within(real, [self._home]):
            return
        if not _within(real, self._writes + self._reads):
            raise OutOfReach("block_reads_outside", path=real)


def _real(paths: Iterable[str]) -> list[str]:
    """Paths without symbolic links."""
    return [os.path.realpath(path) for path in paths]


def _within(path: str, places: list[str]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)
