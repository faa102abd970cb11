"""How much a block may take: memory, files, and none of the rights of a root."""

import ctypes
import os
import platform
import resource
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from errno import ENAMETOOLONG
from itertools import chain, islice
from math import inf

MEMORY = 4 << 30  # bytes; a page of this site takes a tenth of it
FILE = 64 << 20  # one file
FOLDER = 256 << 20  # all files of a page
ENTRIES = 2000  # of them and their folders; to look at more would take the time away
OPEN_FILES = 256
CAPABILITIES = 0x20080522
READ_AS_ROOT = 1 << 1  # keeps what a root reads of other people's project readable


def apply(cuda: bool = False) -> None:
    """Set the limits of this process and all it starts."""
    _at_most(resource.RLIMIT_CORE, 0)
    _at_most(resource.RLIMIT_FSIZE, FILE)
    if not cuda:  # of which nobody knows how much its driver maps: see the watch
        _at_most(resource.RLIMIT_DATA, MEMORY)
        _at_most(resource.RLIMIT_NOFILE, OPEN_FILES)


def _at_most(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def drop_rights() -> None:
    """Take from a root what other users have not."""
    if platform.system() != "Linux":
        return
    header = struct.pack("=Ii", CAPABILITIES, 0)
    left = READ_AS_ROOT if os.getuid() == 0 else 0
    rights = struct.pack("=6I", left, left, 0, 0, 0, 0)
    ctypes.CDLL(None).capset(header, rights)


def resident(process: int) -> int:
    """The bytes of memory that a process holds; 0 where the system does not say."""
    try:
        with open(f"/proc/{process}/statm") as numbers:
            return int(numbers.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def stored(folder: str, process: int) -> float:
    """The bytes that the files in a folder take; infinite where they are too many.

    What the process holds open and has removed counts too; no link is followed.
    """
    sizes = list(islice(chain(_below(folder), _removed(process)), ENTRIES + 1))
    return inf if len(sizes) > ENTRIES else sum(sizes)


def _below(folder: str) -> Iterator[float]:
    errors: list[OSError] = []
    for at, folders, files in os.walk(folder, onerror=errors.append):
        for name in (*folders, *files):
            with suppress(OSError):  # removed meanwhile
                yield os.lstat(f"{at}/{name}").st_blocks * 512
    if any(error.errno == ENAMETOOLONG for error in errors):
        yield inf  # folders in folders


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
