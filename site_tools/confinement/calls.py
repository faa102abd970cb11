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

# Name, number on x86-64, number on aarch64; a dash where there is none.
ALWAYS_REFUSED = """
connect 42 203, listen 50 201, bind 49 200, fork 57 -, vfork 58 -, clone3 435 435,
execve 59 221, execveat 322 281, tkill 200 130, rt_sigqueueinfo 129 138,
rt_tgsigqueueinfo 297 240, pidfd_send_signal 424 424, pidfd_open 434 434,
pidfd_getfd 438 438, ptrace 101 117, process_vm_readv 310 270,
process_vm_writev 311 271, process_madvise 440 440, kcmp 312 272, unshare 272 97,
setns 308 268, io_uring_setup 425 425, bpf 321 280, perf_event_open 298 241,
userfaultfd 323 282, keyctl 250 219, add_key 248 217, request_key 249 218,
memfd_create 319 279, memfd_secret 447 447, shmget 29 194, msgget 68 186,
semget 64 190, mq_open 240 180, open_by_handle_at 304 265, truncate 76 45,
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -,
fchown 93 55, lchown 94 -, fchownat 260 54, setxattr 188 5, lsetxattr 189 6,
fsetxattr 190 7, setxattrat 463 463, removexattr 197 14, lremovexattr 198 15,
fremovexattr 199 16, removexattrat 466 466, utime 132 -, utimes 235 -,
futimesat 261 -, utimensat 280 88"""
REFUSED_BY_ARGUMENT = """
clone 56 220, socket 41 198, socketpair 53 199, kill 62 129, tgkill 234 131,
prlimit64 302 261, open 2 -, openat 257 56, fcntl 72 25, ioctl 16 29, mmap 9 222"""
MACHINES = {"x86_64": (0xC000003E, 1), "aarch64": (0xC00000B7, 2)}

KERNEL = "/proc/sys/kernel/seccomp/actions_avail"  # where it was built with filters
NO_NEW_PRIVILEGES, SET_FILTER, FILTER = 38, 22, 2  # of prctl
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what a filter is given
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
OTHER_ABI = 0x40000000  # x32, whose numbers would pass by
THREAD, WORD = 0x00010000, 0xFFFFFFFF
OWNERS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
CONTROLS = (0x8901, 0x8902, 0x40086602)  # FIOSETOWN, SIOCSPGRP, FS_IOC_SETFLAGS
DRIVER = ("memfd_create", "bind", "listen")  # which that of a GPU may need


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
    return os.path.exists(KERNEL) and platform.machine() in MACHINES


def restrict(cuda: bool = False) -> None:
    """Refuse these calls, but those of a GPU's driver, to this process and its own."""
    steps = list(_steps(platform.machine(), cuda))
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    system = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), code)
    for call in (
        (NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        (SET_FILTER, FILTER, ctypes.byref(program), 0, 0),
    ):
        if system.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "prctl: the filter was not taken")


def _rules(cuda: bool) -> list[Rule]:
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


def _numbers(table: str, machine: str) -> dict[str, int]:
    rows = [row.split() for row in table.split(",")]
    at = MACHINES[machine][1]
    return {row[0]: int(row[at]) for row in rows if row[at] != "-"}


def _steps(machine: str, cuda: bool) -> Iterator[tuple[int, int, int, int]]:
    yield LOAD, 0, 0, ARCHITECTURE
    yield EQUAL, 1, 0, MACHINES[machine][0]
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER
    yield AT_LEAST, 0, 1, OTHER_ABI
    yield RETURN, 0, 0, REFUSE | errno.EPERM
    for name, number in _numbers(ALWAYS_REFUSED, machine).items():
        if not (cuda and name in DRIVER):
            # Without clone3 the C library starts threads by clone.
            code = errno.ENOSYS if name == "clone3" else errno.EPERM
            yield EQUAL, 0, 1, number
            yield RETURN, 0, 0, REFUSE | code
    numbers = _numbers(REFUSED_BY_ARGUMENT, machine)
    for rule in _rules(cuda):
        if rule.call in numbers:
            yield EQUAL, 0, 5, numbers[rule.call]
            yield LOAD, 0, 0, ARGUMENTS + 8 * rule.argument
            yield AND, 0, 0, rule.mask
            yield EQUAL, *((1, 0) if rule.equal else (0, 1)), rule.value
            yield RETURN, 0, 0, REFUSE | errno.EPERM
            yield LOAD, 0, 0, NUMBER  # for the rules that follow
    yield RETURN, 0, 0, ALLOW
