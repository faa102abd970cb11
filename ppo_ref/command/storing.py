"""Files that survive a kill: written whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def store(target: Path, content: bytes) -> None:
    """Replace a file at once, and only when the new one is safely on the disk.

    Args:
        target: The file; until the end it is what it was.
        content: What it is to hold.

    Raises:
        OSError: naming the file, which then is what it was.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     store(Path(folder, "a"), b"1")
        ...     [path.name for path in Path(folder).iterdir()]
        ['a']
    """
    aside = target.with_name(f".{target.name}.new")
    try:
        with named(target), open(aside, "wb") as part:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
        os.replace(aside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    sync(target.parent)


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, safely to the disk.

    Args:
        path: Of the file or folder.

    Raises:
        OSError: naming it.

    Example:
        >>> sync(Path("."))
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        with named(path):
            os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Let errors of the system carry the name of the file.

    Args:
        path: Of the file.

    Returns:
        A context.

    Raises:
        OSError: the same, with the name.

    Example:
        >>> with named(Path("a.jsonl")):
        ...     raise OSError(28, "No space left on device")
        Traceback (most recent call last):
        OSError: [Errno 28] No space left on device: 'a.jsonl'
    """
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
