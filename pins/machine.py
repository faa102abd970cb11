"""Which machines the pins are made for, and how much they download there.

Like all that runs before the environment exists: the standard library only,
in the syntax of Python 3.6, so that an old Python ends in a sentence and not
in a SyntaxError.
"""

import shutil
import subprocess

OLDEST, NEWEST = (3, 11), (3, 14)
OLDEST_GLIBC, OLDEST_MACOS = (2, 28), (14,)
PROCESSORS = {"Linux": ("x86_64", "aarch64", "arm64"), "Darwin": ("arm64",)}


def python_refusal(version, executable):
    """Why this Python cannot be used, or an empty string."""
    found = f"found {'.'.join(map(str, version[:3]))} at {executable}"
    remedy = f"set PYTHON, as in: make test PYTHON={suitable_python()}"
    if tuple(version[:2]) < OLDEST:
        return f"needs Python 3.11 or newer, {found}; {remedy}"
    if tuple(version[:2]) > NEWEST:
        return f"needs Python 3.11 to 3.14, for the pinned PyTorch, {found}; {remedy}"
    return ""


def suitable_python():
    """A Python of this machine that would do, or an example of one."""
    minors = range(NEWEST[1], OLDEST[1] - 1, -1)
    names = [f"python3.{minor}" for minor in minors]
    return next(filter(runs, names), "/path/to/python3.12")


def runs(name):
    # A version manager may know a name and yet have nothing behind it.
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return shutil.which(name) and subprocess.call([name, "-c", ""], **silent) == 0


def platform_refusal(system, processor, libc, macos):
    """Why this operating system cannot be used, or an empty string.

    libc and macos are what platform.libc_ver() and platform.mac_ver() give.
    """
    if processor not in PROCESSORS.get(system, ()):
        return (
            "runs on Linux (x86-64 or arm64, WSL included) and on macOS with Apple "
            f"silicon, found {system} {processor}"
        )
    if system == "Darwin" and number(macos[0]) < OLDEST_MACOS:
        return f"needs macOS 14 or newer, for the pinned PyTorch, found {macos[0]}"
    if system == "Linux" and libc[0] != "glibc":
        return "needs a Linux with glibc, for the pinned PyTorch, found another libc"
    if system == "Linux" and number(libc[1]) < OLDEST_GLIBC:
        return f"needs glibc 2.28 or newer, for the pinned PyTorch, found {libc[1]}"
    return ""


def number(version):
    return tuple(map(int, version.split(".")[:2]))


def download_size(system):
    """What a first installation downloads, in words."""
    if system == "Darwin":
        return "about 0.3 GB"
    return (
        "up to 2.9 GB, most of it PyTorch with CUDA "
        "(0.4 GB with the CPU build, see README)"
    )
