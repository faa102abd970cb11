"""Which files a block reads and writes: Landlock, where the kernel has it.

Linux 5.13 and later, on any machine, without a privilege; elsewhere the guard alone
stands (``site_tools.confinement.guard``).
"""

import ctypes
import functools
import os
import platform
import stat
import struct
from contextlib import suppress

from site_tools.confinement.reach import Reach

CREATE, ADD, RESTRICT = 444, 445, 446  # system calls, the same on every machine
VERSION, BENEATH = 1, 1
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
CHANGE = 0x1FF0  # remove and make what is in a folder
REFER, TRUNCATE, CONTROL = 1 << 13, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | CONTROL
APART = 3  # no signal and no nameless socket of other processes


def version() -> int:
    """The version of Landlock that the kernel has, 0 if none."""
    if platform.system() != "Linux":
        return 0
    known: int = _system().syscall(CREATE, None, 0, VERSION)
    return max(known, 0)


def prepare(reach: Reach) -> int | None:
    """Rules that leave a process what is in reach; None if the kernel has none.

    Args:
        reach: What it reads, lists and writes.

    Raises:
        OSError: if the kernel has Landlock and does not take the rules.
    """
    system, known = _system(), version()
    if not known:
        return None
    handled = _known(EXECUTE | WRITE | READ | LIST | CHANGE | REFER, known)
    sizes = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}
    attributes = struct.pack("=QQQ", handled, 0, APART)[: sizes.get(known, 24)]
    rules: int = system.syscall(CREATE, attributes, len(attributes), 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "landlock: the rules were not taken")
    for paths, rights in (
        (reach.reads, READ | LIST | EXECUTE),
        (reach.lists, LIST),
        (reach.writes, handled & ~EXECUTE),
        (reach.devices, _known(READ | WRITE | LIST, known)),
    ):
        for path in paths:
            with suppress(FileNotFoundError, PermissionError):
                allow(rules, path, rights & handled)
    return rules


def restrict(rules: int) -> None:
    """Hold this process, and all it starts, to rules.

    Args:
        rules: As ``prepare`` made them.

    Raises:
        OSError: if the kernel does not.
    """
    system = _system()
    if system.prctl(38, 1, 0, 0, 0) or system.syscall(RESTRICT, rules, 0):
        raise OSError(ctypes.get_errno(), "landlock: the process was not restricted")


def _known(rights: int, known: int) -> int:
    rights &= ~(REFER if known < 2 else 0)
    return rights | (TRUNCATE if known >= 3 else 0) | (CONTROL if known >= 5 else 0)


def allow(rules: int, path: str, rights: int = READ | LIST) -> None:
    """Add a place to rules.

    Args:
        rules: As ``prepare`` made them.
        path: The place, with all that is below it.
        rights: What may be done there.
    """
    system = _system()
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, place)
        if system.syscall(ADD, rules, BENEATH, rule, 0):
            raise OSError(ctypes.get_errno(), f"landlock: no rule for {path}")
    finally:
        os.close(place)


@functools.cache
def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
