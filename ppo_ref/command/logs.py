"""Files that grow by a line, whole or not at all, and are cut back on a resume."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppo_ref.command.storing import named, sync

NOTHING = 0, hashlib.sha256().hexdigest()  # what ``mark`` says of an empty file


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


def require_mark(path: Path, size: int, sha256: str) -> None:
    """Refuse a file that does not begin with what was marked.

    Args:
        path: Of the file.
        size: Bytes that were there.
        sha256: Their hash.

    Raises:
        ValueError: if they are not there.

    Example:
        >>> require_mark(Path("nowhere"), *NOTHING)
    """
    content = path.read_bytes() if path.exists() else b""
    if hashlib.sha256(content[:size]).hexdigest() != sha256:
        raise ValueError(
            f"{path} must begin with the {size} bytes that it had at the checkpoint, "
            "but has been changed; put them back, or begin another run by --out"
        )


def cut(path: Path, size: int, sha256: str) -> None:
    """Take away what was added to a file since it was marked.

    Args:
        path: Of the file.
        size: Bytes that stay.
        sha256: Their hash.

    Raises:
        ValueError: as ``require_mark``; the file stays.

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
    require_mark(path, size, sha256)
    if path.exists():
        with named(path):
            os.truncate(path, size)


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
