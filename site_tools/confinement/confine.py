"""All that keeps a block apart: the files it reads and writes, calls, limits, words.

Landlock holds it to its own folder and to what Python itself needs, where the kernel
has it: Linux 5.13 and later, on any machine, without a privilege. Where the kernel cuts
nothing off (macOS), the guard is all there is, and code that goes past Python goes past
it; elsewhere it says what the kernel would only refuse.
"""

import ctypes
import functools
import glob
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
from errno import ENAMETOOLONG
from itertools import chain, islice
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from site_tools.confinement import calls
from site_tools.say import Message

PACKAGES = ("ppo_ref", "site_tools")
LIBRARIES = ("bin", "include", "lib", "lib64", "share")  # of a Python
SYSTEM = (
    *("/usr", "/lib", "/lib64", "/nix/store"),
    *("/System/Library", "/Library", "/opt/homebrew"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/passwd"),
    *("/dev/urandom", "/dev/random", "/dev/zero"),
    *("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system"),
)
OWN = "/proc/self"  # another place in every process
# Of the driver of a GPU it is not known what it can do without; the environment of
# other processes is out of reach all the same.
DRIVER = ("/proc", "/sys", "/run/nvidia-persistenced", "/run/opengl-driver", "/opt")
DEVICES = ("/dev/nvidia*", "/dev/shm", "/dev/dxg")

CREATE, ADD, RESTRICT = 444, 445, 446  # system calls, the same on every machine
VERSION, BENEATH = 1, 1
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
CHANGE = 0x1FF0  # remove and make what is in a folder
REFER, TRUNCATE, CONTROL = 1 << 13, 1 << 14, 1 << 15
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
    number: int = _system().syscall(CREATE, None, 0, VERSION)
    return max(number, 0)


def _hold_to(within: Reach) -> None:
    """Hold this process, and all it starts, to what is in reach."""
    system, number = _system(), landlock()
    if not number:
        return
    handled = _known(EXECUTE | WRITE | READ | LIST | CHANGE | REFER, number)
    attributes = struct.pack("=QQQ", handled, 0, APART)[: SIZES.get(number, 24)]
    rules: int = system.syscall(CREATE, attributes, len(attributes), 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "landlock: the rules were not taken")
    for paths, rights in (
        (within.reads, READ | LIST | EXECUTE),
        ((OWN,), READ | LIST),
        (within.lists, LIST),
        (within.writes, handled & ~EXECUTE),
        (within.devices, _known(READ | WRITE | LIST, number)),
    ):
        for path in paths:
            with suppress(FileNotFoundError, PermissionError):
                _allow(rules, path, rights & handled)
    if system.prctl(38, 1, 0, 0, 0) or system.syscall(RESTRICT, rules, 0):
        raise OSError(ctypes.get_errno(), "landlock: the process was not restricted")


def _known(rights: int, number: int) -> int:
    rights &= ~(REFER if number < 2 else 0)
    return rights | (TRUNCATE if number >= 3 else 0) | (CONTROL if number >= 5 else 0)


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a place to the rules, with all that is below it."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, place)
        if _system().syscall(ADD, rules, BENEATH, rule, 0):
            raise OSError(ctypes.get_errno(), f"landlock: no rule for {path}")
    finally:
        os.close(place)


@functools.cache
def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


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


def confine(folder: str, cuda: bool = False) -> None:
    """Let this process, and all it starts, write in one folder alone, for good."""
    within = reach(folder, cuda)
    guard = Guard(within)
    apply_limits(cuda)
    drop_rights()
    _hold_to(within)
    if calls.available():
        calls.restrict(cuda)
    sys.addaudithook(guard)


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
FOLDER = 256 << 20  # all files of a page
ENTRIES = 2000  # of them and their folders; to look at more would take the time away
OPEN_FILES = 256
CAPABILITIES = 0x20080522
READ_AS_ROOT = 1 << 1  # keeps what a root reads of other people's project readable


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
    if platform.system() != "Linux":
        return
    header = struct.pack("=Ii", CAPABILITIES, 0)
    left = READ_AS_ROOT if os.getuid() == 0 else 0
    rights = struct.pack("=6I", left, left, 0, 0, 0, 0)
    _system().capset(header, rights)


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
