"""What a block needs of the machine: the interpreter, the package, its own folder."""

import glob
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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
    "/etc/passwd",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system",
)
# Of the driver of a GPU it is not known what it can do without; the environment of
# other processes is out of reach all the same.
OWN = "/proc/self"  # another place in every process
DRIVER = ("/proc", "/sys", "/run/nvidia-persistenced", "/run/opengl-driver", "/opt")
DEVICES = ("/dev/nvidia*", "/dev/shm", "/dev/dxg")


class Reach(NamedTuple):
    """Places, each with all that is below it."""

    reads: tuple[str, ...]
    lists: tuple[str, ...]
    writes: tuple[str, ...]
    devices: tuple[str, ...]


def reach(folder: str, cuda: bool = False) -> Reach:
    """What a block may reach whose own folder this is.

    Args:
        folder: The one place where it writes.
        cuda: Whether it may use a GPU.
    """
    reads = [*_python(), *SYSTEM]
    reads += filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    devices = ["/dev/null"]
    if cuda:
        reads += DRIVER
        devices += [found for name in DEVICES for found in glob.glob(name)]
    lists = [entry for entry in sys.path if not entry.endswith("-packages")]
    return Reach(tuple(reads), tuple(filter(None, lists)), (folder,), tuple(devices))


def _python() -> Iterator[str]:
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    yield from (str(Path(at, name)) for at in sorted(prefixes) for name in LIBRARIES)
    yield from (entry for entry in sys.path if entry.endswith("-packages"))
    for package in PACKAGES:
        module = sys.modules.get(package)
        yield from (str(Path(at).resolve()) for at in getattr(module, "__path__", ()))
