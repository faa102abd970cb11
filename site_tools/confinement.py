"""All that keeps a block apart: its own folder, calls, limits, and a guard in words.

Landlock holds it to its own folder and to what Python itself needs, where the kernel
has it: Linux 5.13 and later, on any machine, without a privilege. A filter of system
calls (Linux on x86-64 and aarch64) gives it no network, no further process and no reach
into another one. Where the kernel cuts nothing off (macOS), the guard is all there is,
and code that goes past Python goes past it; elsewhere it says what the kernel would
only refuse. Nothing of this can be taken back, and it holds for whatever is started.
"""

import ctypes
import errno
import functools
import glob
import mmap
import os
import platform
import pwd
import resource
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from site_tools.say import Message


def confine(folder: str, cuda: bool = False) -> None:
    """Let this process, and all it starts, write in one folder alone, for good."""
    within = reach(folder, cuda)
    guard = Guard(within)
    apply_limits(cuda)
    if platform.system() == "Linux":
        drop_rights()
        _taken("no new privileges", _system().prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    if version := landlock():
        _hold_to(within, version)
    if filters_calls():
        _refuse_calls(cuda)
    sys.addaudithook(guard)


@functools.cache
def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _taken(what: str, result: int) -> int:
    """What a system call gave, or its error: a block does not run half confined."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"the kernel did not take: {what}")
    return result


# The files in reach, held by Landlock.

PACKAGES = ("ppo_ref", "site_tools")
LIBRARIES = ("bin", "include", "lib", "lib64", "share")  # of a Python
SYSTEM = (
    *("/usr", "/lib", "/lib64", "/nix/store"),
    *("/System/Library", "/Library", "/opt/homebrew"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts"),
    *("/dev/urandom", "/dev/random", "/dev/zero"),
    *("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system"),
)
# Of its own process a block reads this: not what it says of networks and mounts.
OWN = (
    *("/proc/self/environ", "/proc/self/fd", "/proc/self/maps"),
    *("/proc/self/stat", "/proc/self/statm", "/proc/self/status"),
)
# Of the driver of a GPU it is not known what it can do without; the environment of
# other processes is out of reach all the same.
DRIVER = ("/proc", "/sys", "/run/nvidia-persistenced", "/run/opengl-driver", "/opt")
DEVICES = ("/dev/nvidia*", "/dev/shm", "/dev/dxg")

CREATE, ADD, RESTRICT = 444, 445, 446  # system calls, the same on every machine
VERSION, BENEATH = 1, 1
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
CHANGE = 0x1FF0  # remove and make what is in a folder
REFER, TRUNCATE, CONTROL = 1 << 13, 1 << 14, 1 << 15
SINCE = {REFER: 2, TRUNCATE: 3, CONTROL: 5}  # the version of Landlock that knows it
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | CONTROL
APART = 3  # no signal and no nameless socket of other processes
SIZES = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}  # of the attributes, by version


class Reach(NamedTuple):
    """Places, each with all that is below it."""

    reads: tuple[str, ...]
    lists: tuple[str, ...]
    writes: tuple[str, ...]
    devices: tuple[str, ...]


def reach(folder: str, cuda: bool = False) -> Reach:
    """What a block may reach that writes in this folder alone, maybe with a GPU."""
    reads = [*_python(), *SYSTEM]
    reads += filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    devices = ["/dev/null"]
    if cuda:
        reads += DRIVER
        devices += [place for name in DEVICES for place in glob.glob(name)]
    lists = [entry for entry in sys.path if not entry.endswith("-packages")]
    return Reach(tuple(reads), tuple(filter(None, lists)), (folder,), tuple(devices))


def _python() -> Iterator[str]:
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    yield from (str(Path(at, name)) for at in sorted(prefixes) for name in LIBRARIES)
    yield from (entry for entry in sys.path if entry.endswith("-packages"))
    for package in PACKAGES:
        module = sys.modules.get(package)
        yield from (str(Path(at).resolve()) for at in getattr(module, "__path__", ()))


def landlock() -> int:
    """The version of Landlock that the kernel has, 0 if none."""
    if platform.system() != "Linux":
        return 0
    return max(0, int(_system().syscall(CREATE, None, 0, VERSION)))


def _hold_to(within: Reach, version: int) -> None:
    """Hold this process, and all it starts, to what is in reach."""
    handled = EXECUTE | WRITE | READ | LIST | CHANGE
    handled |= sum(right for right, since in SINCE.items() if since <= version)
    attributes = struct.pack("=QQQ", handled, 0, APART)[: SIZES.get(version, 24)]
    made = _system().syscall(CREATE, attributes, len(attributes), 0)
    rules = _taken("the rules of Landlock", made)
    for paths, rights in (
        (within.reads, READ | LIST | EXECUTE),
        (OWN, READ | LIST),
        (within.lists, LIST),
        (within.writes, ~EXECUTE),
        (within.devices, READ | WRITE | LIST | TRUNCATE | CONTROL),
    ):
        for path in paths:
            with suppress(FileNotFoundError, PermissionError):
                _allow(rules, path, rights & handled)
    _taken("Landlock itself", _system().syscall(RESTRICT, rules, 0))


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a place to the rules, with all that is below it."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, place)
        _taken(f"{path} in reach", _system().syscall(ADD, rules, BENEATH, rule, 0))
    finally:
        os.close(place)


# The calls that are refused, by a filter written by hand, since the libraries for it
# need one of the system (libseccomp).

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
THREAD, WORD = 0x00010000, 0xFFFFFFFF
# Of fcntl: who is signalled when a file is ready, and how (F_SETOWN, F_SETSIG,
# F_SETOWN_EX); what lets others wait or tells of them (F_SETLEASE, F_NOTIFY).
COMMANDS = (8, 10, 15, 1024, 1026)
# Of ioctl: the same (FIOSETOWN, SIOCSPGRP); marks of a file that is only read
# (FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, ext4's, FS_IOC_ENABLE_VERITY).
CONTROLS = (
    *(0x8901, 0x8902, 0x40086602, 0x401C5820, 0x40087602, 0x40086604),
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
    """Whether this machine can filter system calls as we know them."""
    return os.path.exists(KERNEL) and platform.machine() in MACHINES


def _refuse_calls(cuda: bool) -> None:
    """Refuse these calls, but those of a GPU's driver, to this process and its own."""
    steps = list(_steps(platform.machine(), cuda))
    program = _Program(len(steps), b"".join(struct.pack("=HBBI", *s) for s in steps))
    pointer = ctypes.byref(program)
    _taken("the filter", _system().prctl(SET_FILTER, FILTER, pointer, 0, 0))


def _rules(cuda: bool) -> list[Rule]:
    own = os.getpid()
    shared = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
    return [
        *(Rule("fcntl", 1, WORD, command, equal=False) for command in COMMANDS),
        *(Rule("ioctl", 1, WORD, command, equal=False) for command in CONTROLS),
        Rule("close_range", 2, FILES_OF_ITS_OWN, FILES_OF_ITS_OWN, equal=False),
        # Memory that no limit counts.
        *([] if cuda else [Rule("mmap", 3, shared, shared, equal=False)]),
        Rule("clone", 0, THREAD, THREAD),
        Rule("socketpair", 1, 0xF, socket.SOCK_STREAM),  # others can be sent astray
        Rule("socket", 0, WORD, socket.AF_UNIX if cuda else WORD),
        Rule("kill", 0, WORD, own),
        Rule("tgkill", 0, WORD, own),
        Rule("prlimit64", 0, WORD, 0),
        # Of an ordinary user's processes one could slow the other, which watches it.
        *(Rule(call, 0, WORD, 0) for call in SCHEDULERS.split()),
        *(Rule("setpriority", argument, WORD, 0) for argument in (0, 1)),
        Rule("ioprio_set", 0, WORD, 1),  # of one process, which is
        Rule("ioprio_set", 1, WORD, 0),  # this one
        Rule("prctl", 0, WORD, SET_DEATH_SIGNAL, equal=False),  # with its watcher
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
            yield EQUAL, *((1, 0) if rule.equal else (0, 1)), rule.value
            yield RETURN, 0, 0, REFUSE | errno.EPERM
            yield LOAD, 0, 0, NUMBER  # for the rules that follow
    yield RETURN, 0, 0, ALLOW


# What Python itself refuses, in words.

STARTS = (
    *("subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.exec"),
    *("os.spawn", "os.posix_spawn", "pty.spawn"),
)
CONTACTS = (
    *("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"),
    *("socket.gethostbyname", "socket.gethostbyaddr"),
)
# The event, and which of its arguments are paths that change.
CHANGES = {
    **dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.truncate"), (0,)),
    **dict.fromkeys(("os.chmod", "os.chown", "os.utime"), (0,)),
    **dict.fromkeys(("os.rename", "os.link"), (0, 1)),
    "os.symlink": (1,),
}
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
        self._writes = tuple(map(os.path.realpath, (*within.writes, *within.devices)))
        self._reads = tuple(map(os.path.realpath, within.reads))
        self._lists = tuple(map(os.path.realpath, within.lists))
        self._home = os.path.realpath(home or pwd.getpwuid(os.getuid()).pw_dir)
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
        elif event in CONTACTS or (event == "socket.__new__" and _goes_out(arguments)):
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
        own = (*self._writes, *self._reads)
        if _within(real, (self._home,)) and not _within(real, own):
            raise OutOfReach("block_reads_outside", path=real)


def _goes_out(arguments: tuple[Any, ...]) -> bool:
    return arguments[1] not in (-1, socket.AF_UNIX)


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


# How much a block may take.

MEMORY = 4 << 30  # bytes; a page of this site takes a tenth of it
FILE = 64 << 20  # one file
FOLDER = 256 << 20  # all files of a process
ENTRIES = 2000  # of them and their folders; to look at more would take the time away
DEEPEST = 50  # folders in folders
HELD = ("VmRSS:", "VmPTE:", "VmSwap:")  # memory, its tables, what was moved to a disk
OPEN_FILES = 256
CAPABILITIES = 0x20080522
# CAP_DAC_READ_SEARCH: a root goes on reading a project that is another user's.
READ_AS_ROOT = 1 << 2


def apply_limits(cuda: bool = False) -> None:
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
    header = struct.pack("=Ii", CAPABILITIES, 0)
    held = ctypes.create_string_buffer(24)
    _taken("a look at its rights", _system().capget(header, held))
    _, permitted, *_ = struct.unpack("=6I", held)
    left = READ_AS_ROOT & permitted if os.getuid() == 0 else 0
    rights = struct.pack("=6I", left, left, 0, 0, 0, 0)
    _taken("fewer rights", _system().capset(header, rights))


def resident(process: int) -> int:
    """The bytes of memory that a process holds; 0 where the system does not say.

    The tables that say where its memory lies count too: they grow with what is only
    mapped, and no limit of the kernel holds for them.
    """
    try:
        with open(f"/proc/{process}/status") as rows:
            held = [row.split() for row in rows if row.startswith(HELD)]
    except OSError:
        return 0
    return sum(int(size) << 10 for _, size, _ in held)  # it says kB


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
