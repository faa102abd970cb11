"""The calls that a block is refused, by a filter in the kernel (seccomp).

It is written by hand, since the libraries for it need one of the system (libseccomp).
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

from site_tools.confinement.kernel import accepted, system

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
futimesat 261 -, utimensat 280 88, file_setattr 469 469, inotify_init 253 -,
inotify_init1 294 26, inotify_add_watch 254 27, fanotify_init 300 262, flock 73 32,
io_setup 206 0, sync 162 81, syslog 103 116, migrate_pages 256 238,
move_pages 279 239"""
REFUSED_BY_ARGUMENT = """
clone 56 220, socket 41 198, socketpair 53 199, kill 62 129, tgkill 234 131,
prlimit64 302 261, open 2 -, openat 257 56, fcntl 72 25, ioctl 16 29, mmap 9 222,
close_range 436 436,
setpriority 141 140, sched_setparam 142 118, sched_setscheduler 144 119,
sched_setattr 314 274, sched_setaffinity 203 122, ioprio_set 251 30, prctl 157 167"""
MACHINES = {"x86_64": (0xC000003E, 1), "aarch64": (0xC00000B7, 2)}

KERNEL = "/proc/sys/kernel/seccomp/actions_avail"  # where it was built with filters
NO_NEW_PRIVILEGES, SET_FILTER, FILTER = 38, 22, 2  # of prctl
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what a filter is given
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
OTHER_ABI = 0x40000000  # x32, whose numbers would pass by
THREAD, ALL_BITS = 0x00010000, 0xFFFFFFFF
# Of fcntl: who is signalled when a file is ready, and how (F_SETOWN, F_SETSIG,
# F_SETOWN_EX); what lets others wait or tells of them (F_SETLEASE, F_NOTIFY).
FCNTL_COMMANDS = (8, 10, 15, 1024, 1026)
# Of ioctl: the same (FIOSETOWN, SIOCSPGRP); marks of a file that is only read
# (FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, ext4's, FS_IOC_ENABLE_VERITY).
IOCTL_COMMANDS = (
    0x8901,
    0x8902,
    0x40086602,
    0x401C5820,
    0x40087602,
    0x40086604,
    0x40806685,
)
FILES_OF_ITS_OWN = 2  # CLOSE_RANGE_UNSHARE: of one thread, where no watch counts them
SET_DEATH_SIGNAL = 1  # of prctl
# Each sets how much of the machine a process gets; 0 is the thread that asks.
SCHEDULERS = "sched_setparam sched_setscheduler sched_setattr sched_setaffinity"
# What the driver of a GPU may need.
CALLS_OF_DRIVER = ("memfd_create", "bind", "listen", "flock")


class Rule(NamedTuple):
    """A call that is refused unless an argument, masked, is a value; or if it is."""

    call: str
    argument: int
    mask: int
    value: int
    equal: bool = True


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def filters_calls() -> bool:
    """True if this machine can filter system calls as we know them."""
    return os.path.exists(KERNEL) and platform.machine() in MACHINES


def refuse_calls(cuda: bool) -> None:
    """Refuse these calls, but those of a GPU's driver, to this process and its own."""
    steps = list(_steps(platform.machine(), cuda))
    program = _Program(len(steps), b"".join(struct.pack("=HBBI", *s) for s in steps))
    pointer = ctypes.byref(program)
    accepted("the filter", system().prctl(SET_FILTER, FILTER, pointer, 0, 0))


def _rules(cuda: bool) -> list[Rule]:
    own = os.getpid()
    rules = [
        Rule("fcntl", 1, ALL_BITS, command, equal=False) for command in FCNTL_COMMANDS
    ]
    rules += [
        Rule("ioctl", 1, ALL_BITS, command, equal=False) for command in IOCTL_COMMANDS
    ]
    # Of an ordinary user's processes one could slow the other, which watches it.
    rules += [Rule(call, 0, ALL_BITS, 0) for call in SCHEDULERS.split()]
    rules += [Rule("setpriority", argument, ALL_BITS, 0) for argument in (0, 1)]
    if not cuda:  # memory that no limit counts
        shared = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
        rules.append(Rule("mmap", 3, shared, shared, equal=False))
    return [
        *rules,
        Rule("close_range", 2, FILES_OF_ITS_OWN, FILES_OF_ITS_OWN, equal=False),
        Rule("clone", 0, THREAD, THREAD),
        Rule("socketpair", 1, 0xF, socket.SOCK_STREAM),  # others can be sent astray
        Rule("socket", 0, ALL_BITS, socket.AF_UNIX if cuda else ALL_BITS),
        Rule("kill", 0, ALL_BITS, own),
        Rule("tgkill", 0, ALL_BITS, own),
        Rule("prlimit64", 0, ALL_BITS, 0),
        Rule("ioprio_set", 0, ALL_BITS, 1),  # of one process, which is
        Rule("ioprio_set", 1, ALL_BITS, 0),  # this one
        Rule("prctl", 0, ALL_BITS, SET_DEATH_SIGNAL, equal=False),  # with its watcher
        # Until Linux 6.2 Landlock does not see a file emptied by opening it to read.
        Rule("open", 1, os.O_ACCMODE | os.O_TRUNC, os.O_TRUNC, equal=False),
        Rule("openat", 2, os.O_ACCMODE | os.O_TRUNC, os.O_TRUNC, equal=False),
    ]


def _numbers(table: str, machine: str) -> dict[str, int]:
    """The numbers of calls on a machine, without those that it does not have."""
    column, numbers = MACHINES[machine][1], {}
    for row in table.split(","):
        cells = row.split()
        if cells[column] != "-":
            numbers[cells[0]] = int(cells[column])
    return numbers


def _steps(machine: str, cuda: bool) -> Iterator[tuple[int, int, int, int]]:
    yield LOAD, 0, 0, ARCHITECTURE
    yield EQUAL, 1, 0, MACHINES[machine][0]
    yield RETURN, 0, 0, KILL
    yield LOAD, 0, 0, NUMBER
    yield AT_LEAST, 0, 1, OTHER_ABI
    yield RETURN, 0, 0, REFUSE | errno.EPERM
    for name, number in _numbers(ALWAYS_REFUSED, machine).items():
        if not (cuda and name in CALLS_OF_DRIVER):
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
            # One step is skipped: the refusal, or the way around it.
            skipped = (1, 0) if rule.equal else (0, 1)
            yield EQUAL, *skipped, rule.value
            yield RETURN, 0, 0, REFUSE | errno.EPERM
            yield LOAD, 0, 0, NUMBER  # for the rules that follow
    yield RETURN, 0, 0, ALLOW
