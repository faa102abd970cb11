"""How much a block may take, and how much it has taken."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from math import inf

MEMORY = 4 << 30  # bytes; a page of this site takes a tenth of it
FILE_BYTES = 64 << 20  # one file
FOLDER_BYTES = 256 << 20  # all files of a process
ENTRIES = 2000  # of them and their folders; to look at more would take the time away
DEEPEST = 50  # folders in folders
HELD = ("VmRSS:", "VmPTE:", "VmSwap:")  # memory, its tables, what was moved to a disk
OPEN_FILES = 256


def apply_limits(cuda: bool = False) -> None:
    """Set the limits of this process and all it starts."""
    _at_most(resource.RLIMIT_CORE, 0)
    _at_most(resource.RLIMIT_FSIZE, FILE_BYTES)
    if not cuda:  # of which nobody knows how much its driver maps: see the watch
        _at_most(resource.RLIMIT_DATA, MEMORY)
        _at_most(resource.RLIMIT_NOFILE, OPEN_FILES)


def _at_most(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def resident(process: int) -> int:
    """The bytes of memory that a process holds; 0 where the system does not say.

    The tables that say where its memory lies count too: they grow with what is only
    mapped, and no limit of the kernel holds for them.
    """
    held = 0
    try:
        with open(f"/proc/{process}/status") as rows:
            for row in rows:
                if row.startswith(HELD):
                    held += int(row.split()[1]) << 10  # it says kB
    except OSError:
        return 0
    return held


def stored(folder: str, process: int) -> float:
    """The bytes that the files in a folder take; infinite where they are too many.

    What the process holds open and has removed counts too; no link is followed.
    """
    sizes = list(islice(chain(_below(folder), _removed(process)), ENTRIES + 1))
    return inf if len(sizes) > ENTRIES else sum(sizes)


def _below(name: str, parent: int | None = None, depth: int = 0) -> Iterator[float]:
    """The size of each entry below a folder, which a block may change meanwhile.

    Each folder is opened from the one above it: a path could by then lead elsewhere.
    """
    if depth > DEEPEST:
        yield inf
        return
    try:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        folder = os.open(name, flags, dir_fd=parent)
    except PermissionError:  # so nobody can see what is written in it
        yield inf
        return
    except OSError:  # removed meanwhile, or no folder any more
        return
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        yield from _below(entry.name, folder, depth + 1)
    finally:
        os.close(folder)


def _removed(process: int) -> Iterator[float]:
    try:
        numbers = os.listdir(f"/proc/{process}/fd")
    except OSError:
        return
    for number in numbers:
        with suppress(OSError):
            file = os.stat(f"/proc/{process}/fd/{number}")
            if stat.S_ISREG(file.st_mode) and not file.st_nlink:
                yield file.st_blocks * 512
