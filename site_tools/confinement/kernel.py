"""Calls to the kernel that Python has no function for; the rights of this process."""

import ctypes
import functools
import os
import struct

CAPABILITIES = 0x20080522
# CAP_DAC_READ_SEARCH: a root goes on reading a project that is another user's.
READ_AS_ROOT = 1 << 2


@functools.cache
def system() -> ctypes.CDLL:
    """The C library, which leaves the error of a call to be asked for."""
    return ctypes.CDLL(None, use_errno=True)


def accepted(what: str, result: int) -> int:
    """The result of a system call, or its error: no block runs half confined."""
    if result < 0:
        raise OSError(ctypes.get_errno(), f"the kernel did not take: {what}")
    return result


def drop_rights() -> None:
    """Take from a root what other users have not."""
    header = struct.pack("=Ii", CAPABILITIES, 0)
    held = ctypes.create_string_buffer(24)
    accepted("a look at its rights", system().capget(header, held))
    _, permitted, *_ = struct.unpack("=6I", held)
    left = READ_AS_ROOT & permitted if os.getuid() == 0 else 0
    rights = struct.pack("=6I", left, left, 0, 0, 0, 0)
    accepted("fewer rights", system().capset(header, rights))
