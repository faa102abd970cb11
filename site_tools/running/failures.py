"""An exception that ended a block, in words: what it is and where it went through."""

import errno
import traceback

from site_tools.confinement import limits
from site_tools.running.model import Failure


def file_name(number: int) -> str:
    """What a block is called in a traceback, by its place on the page."""
    return f"<block {number}>"


def failure(error: BaseException) -> Failure:
    """The failure that an exception is, with the line of each block it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [
        (int(frame.filename[7:-1]), frame.lineno or 1)
        for frame in frames
        if frame.filename.startswith("<block ")
    ]
    if isinstance(error, SyntaxError) and (error.filename or "").startswith("<block "):
        lines.append((int(str(error.filename)[7:-1]), error.lineno or 1))
    kind, message = _told(error)
    return Failure(kind, message, tuple(lines))


def _told(error: BaseException) -> tuple[str, str]:
    """The type of an exception and what it says, or the limit that it is about."""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, MemoryError) or "can't allocate memory" in message:
        return (
            "MemoryLimit",
            f"the block needs over {limits.MEMORY >> 30} GiB of memory",
        )
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "FileLimit", f"the block writes a file of over {limits.FILE >> 20} MiB"
    return type(error).__name__, message
