"""Which files a block reads and writes: its own folder, and what Python itself needs.

Landlock holds it to that, where the kernel has it: Linux 5.13 and later, on any
machine, without a privilege. Elsewhere the guard alone stands (``confine.Guard``).
"""

import ctypes
import functools
import glob
import os
import platform
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

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


def version() -> int:
    """The version of Landlock that the kernel has, 0 if none."""
    if platform.system() != "Linux":
        return 0
    number: int = _system().syscall(CREATE, None, 0, VERSION)
    return max(number, 0)


def restrict(within: Reach) -> None:
    """Hold this process, and all it starts, to what is in reach."""
    system, number = _system(), version()
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
