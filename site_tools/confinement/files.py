"""The files in reach of a block, held by Landlock where the kernel has it."""

import glob
import os
import platform
import stat
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from site_tools.confinement.kernel import accepted, system

PACKAGES = ("ppo_ref", "site_tools")
LIBRARIES = ("bin", "include", "lib", "lib64", "share")  # of a Python
SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/nix/store",
    "/System/Library",
    "/Library",
    "/opt/homebrew",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/fonts",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system",
)
# Of its own process a block reads this: not what it says of networks and mounts.
OWN = (
    "/proc/self/environ",
    "/proc/self/fd",
    "/proc/self/maps",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
)
# Of the driver of a GPU it is not known what it can do without; the environment of
# other processes is out of reach all the same.
DRIVER = ("/proc", "/sys", "/run/nvidia-persistenced", "/run/opengl-driver", "/opt")
DEVICES = ("/dev/nvidia*", "/dev/shm", "/dev/dxg")

CREATE, ADD, RESTRICT = 444, 445, 446  # system calls, the same on every machine
ASK_VERSION, BENEATH = 1, 1
EXECUTE, WRITE, READ, LIST_FOLDER = 1, 2, 4, 8
CHANGE = 0x1FF0  # remove and make what is in a folder
REFER, TRUNCATE, CONTROL = 1 << 13, 1 << 14, 1 << 15
SINCE = {REFER: 2, TRUNCATE: 3, CONTROL: 5}  # the version of Landlock that knows it
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | CONTROL
OTHER_PROCESSES = 3  # no signal and no nameless socket of other processes
SIZES = {1: 8, 2: 8, 3: 8, 4: 16, 5: 16}  # of the attributes, by version


class Reach(NamedTuple):
    """Places, each with all that is below it."""

    reads: tuple[str, ...]
    lists: tuple[str, ...]
    writes: tuple[str, ...]
    devices: tuple[str, ...]


def reach(folder: str, cuda: bool = False) -> Reach:
    """The reach of a block that writes in this folder alone, maybe with a GPU."""
    reads, lists, devices = [*SYSTEM], list[str](), ["/dev/null"]
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    for prefix in sorted(prefixes):
        reads += [str(Path(prefix, name)) for name in LIBRARIES]
    for package in PACKAGES:
        folders = getattr(sys.modules.get(package), "__path__", ())
        reads += [str(Path(at).resolve()) for at in folders]
    for entry in sys.path:
        if entry.endswith("-packages"):
            reads.append(entry)
        elif entry:
            lists.append(entry)
    for entry in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if entry:
            reads.append(entry)
    if cuda:
        reads += DRIVER
        for name in DEVICES:
            devices += glob.glob(name)
    return Reach(tuple(reads), tuple(lists), (folder,), tuple(devices))


def landlock() -> int:
    """The version of Landlock that the kernel has, 0 if none."""
    if platform.system() != "Linux":
        return 0
    return max(0, int(system().syscall(CREATE, None, 0, ASK_VERSION)))


def hold_to(within: Reach, version: int) -> None:
    """Hold this process, and all it starts, to what is in reach."""
    handled = EXECUTE | WRITE | READ | LIST_FOLDER | CHANGE
    for right, since in SINCE.items():
        if since <= version:
            handled |= right
    attributes = struct.pack("=QQQ", handled, 0, OTHER_PROCESSES)[
        : SIZES.get(version, 24)
    ]
    made = system().syscall(CREATE, attributes, len(attributes), 0)
    rules = accepted("the rules of Landlock", made)
    for paths, rights in (
        (within.reads, READ | LIST_FOLDER | EXECUTE),
        (OWN, READ | LIST_FOLDER),
        (within.lists, LIST_FOLDER),
        (within.writes, ~EXECUTE),
        (within.devices, READ | WRITE | LIST_FOLDER | TRUNCATE | CONTROL),
    ):
        for path in paths:
            with suppress(FileNotFoundError, PermissionError):
                _allow(rules, path, rights & handled)
    accepted("Landlock itself", system().syscall(RESTRICT, rules, 0))


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a place to the rules, with all that is below it."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, place)
        accepted(f"{path} in reach", system().syscall(ADD, rules, BENEATH, rule, 0))
    finally:
        os.close(place)
