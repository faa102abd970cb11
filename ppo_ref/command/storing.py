"""Files that survive a kill: written whole or not at all, lines added whole."""

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NOTHING = 0, hashlib.sha256().hexdigest()  # what ``mark`` says of an empty file


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


def add_line(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line of JSON to a file, whole or not at all; what is not finite is null.

    Args:
        path: Of the file, which begins with its first line.
        line: What is added.

    Raises:
        OSError: naming the file, which then is what it was.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     add_line(Path(folder, "a"), {"kl": 0.5, "ratio_max": float("inf")})
        ...     Path(folder, "a").read_text()
        '{"kl": 0.5, "ratio_max": null}\\n'
    """
    finite = {name: _finite(value) for name, value in line.items()}
    content = f"{json.dumps(finite, ensure_ascii=False, allow_nan=False)}\n".encode()
    with named(path), open(path, "ab", buffering=0) as log:
        before = log.tell()
        try:
            while content:
                content = content[log.write(content) :]
        except BaseException:
            os.truncate(path, before)
            raise


def mark(path: Path) -> tuple[int, str]:
    """How long a file is and a hash of it, once it is safely on the disk.

    Args:
        path: Of the file; one that is not there is empty.

    Returns:
        Bytes, and their SHA-256.

    Raises:
        OSError: naming the file.

    Example:
        >>> mark(Path("nowhere"))[0]
        0
    """
    if not path.exists():
        return NOTHING
    sync(path)
    content = path.read_bytes()
    return len(content), hashlib.sha256(content).hexdigest()


def cut(path: Path, size: int, sha256: str) -> None:
    """Take away what was added to a file since it was marked.

    Args:
        path: Of the file.
        size: Bytes that stay.
        sha256: Their hash.

    Raises:
        ValueError: if the file does not begin with what was marked; it stays.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     log = Path(folder, "log")
        ...     _ = log.write_text("kept")
        ...     marked = mark(log)
        ...     _ = log.write_text("kept, then added")
        ...     cut(log, *marked)
        ...     log.read_text()
        'kept'
    """
    content = path.read_bytes() if path.exists() else b""
    if hashlib.sha256(content[:size]).hexdigest() != sha256:
        raise ValueError(
            f"{path} must begin with the {size} bytes that it had at the checkpoint, "
            "but has been changed"
        )
    if len(content) > size:
        with named(path):
            os.truncate(path, size)


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


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
