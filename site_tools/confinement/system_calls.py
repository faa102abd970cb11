"""No network, no further process, no reach into another one: a filter of system calls.

Written by hand, since the libraries for it need one of the system (libseccomp). It
needs no privilege, holds for whatever the process starts, and cannot be taken back.
Linux on x86-64 and aarch64; elsewhere there is none.
"""

import ctypes
import errno
import mmap
import os
import platform
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from site_tools.confinement.call_numbers import ARCHITECTURES, FORBIDDEN

KERNEL = "/proc/sys/kernel/seccomp/actions_avail"  # where it was built with filters
NO_NEW_PRIVILEGES, SET_FILTER, FILTER = 38, 22, 2  # of prctl
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what a filter is given
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
OTHER_ABI = 0x40000000  # x32, whose numbers would pass by
THREAD, WORD = 0x00010000, 0xFFFFFFFF
# Of a GPU's driver it is not known that it can do without.
OWNERS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
CONTROLS = (0x8901, 0x8902, 0x40086602)  # FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS
DRIVER = ("memfd_create", "bind", "listen")


class Rule(NamedTuple):
    """A call that is refused unless an argument, masked, is a value; or if it is."""

    call: str
    argument: int
    mask: int
    value: int
    equal: bool = True


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def available() -> bool:
    """Whether this machine can filter system calls as we know them."""
    return os.path.exists(KERNEL) and platform.machine() in ARCHITECTURES


def rules(cuda: bool) -> list[Rule]:
    """The calls that depend on what they are asked for.

    Args:
        cuda: Whether the driver of a GPU is needed, which listens on a socket.
    """
    own = os.getpid()
    shared = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
    return [
        # Who is signalled when a file is ready: it could be who watches this process.
        *(Rule("fcntl", 1, WORD, command, equal=False) for command in OWNERS),
        *(Rule("ioctl", 1, WORD, command, equal=False) for command in CONTROLS),
        # Memory that no limit counts.
        *([] if cuda else [Rule("mmap", 3, shared, shared, equal=False)]),
        Rule("clone", 0, THREAD, THREAD),
        Rule("socketpair", 1, 0xF, socket.SOCK_STREAM),  # others can be sent astray
        Rule("socket", 0, WORD, socket.AF_UNIX if cuda else WORD),
        Rule("kill", 0, WORD, own),
        Rule("tgkill", 0, WORD, own),
        Rule("prlimit64", 0, WORD, 0),
        # Until Linux 6.2 Landlock does not see a file emptied by opening it to read.
        Rule("open", 1, os.O_ACCMODE | os.O_TRUNC, os.O_TRUNC, equal=False),
        Rule("openat", 2, os.O_ACCMODE | os.O_TRUNC, os.O_TRUNC, equal=False),
    ]


def restrict(cuda: bool = False) -> None:
    """Refuse these calls from now on, to this process and all it starts.

    Args:
        cuda: As for ``rules``.

    Raises:
        OSError: if the kernel does not take the filter.
    """
    steps = list(_steps(platform.machine(), rules(cuda), cuda))
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    system = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), code)
    for call in (
        (NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        (SET_FILTER, FILTER, ctypes.byref(program), 0, 0),
    ):
        if system.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "prctl: the filter was not taken")


def _steps(
    machine: str, conditions: list[Rule], cuda: bool
) -> Iterator[tuple[int, int, int, int]]:
    kind, number = ARCHITECTURES[machine]
    yield LOAD, 0, 0, ARCHITECTURE
    yield EQUAL, 1, 0, kind
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER
    yield AT_LEAST, 0, 1, OTHER_ABI
    yield RETURN, 0, 0, REFUSE | errno.EPERM
    for name in FORBIDDEN:
        if name in number and not (cuda and name in DRIVER):
            # Told that there is no clone3, the C library starts threads by clone.
            code = errno.ENOSYS if name == "clone3" else errno.EPERM
            yield EQUAL, 0, 1, number[name]
            yield RETURN, 0, 0, REFUSE | code
    for rule in conditions:
        if rule.call in number:
            yield EQUAL, 0, 5, number[rule.call]
            yield LOAD, 0, 0, ARGUMENTS + 8 * rule.argument
            yield AND, 0, 0, rule.mask
            yield EQUAL, *((1, 0) if rule.equal else (0, 1)), rule.value
            yield RETURN, 0, 0, REFUSE | errno.EPERM
            yield LOAD, 0, 0, NUMBER  # for the rules that follow
    yield RETURN, 0, 0, ALLOW
