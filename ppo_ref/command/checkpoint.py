"""Where a run stands, as one file that is believed only if it is whole."""

import hashlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch

from ppo_ref.command.storing import named, store

FORMAT = 1
LAST, BEFORE = "checkpoint.pt", "checkpoint.before.pt"
# The first line; its hash is of all that follows: a line of JSON, then torch's bytes.
_FIRST = re.compile(rb"ppo_ref checkpoint, format (\d+), SHA-256 ([0-9a-f]{64})\n")


class Checkpoint(NamedTuple):
    """What the command notes of a run, as JSON knows it, and the trainer's state."""

    notes: dict[str, Any]
    state: dict[str, Any]


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Make it the last one; the one that was the last is kept under another name.

    Whenever the machine stops, one of the two is whole.

    Args:
        folder: Of the run.
        checkpoint: What is kept.

    Raises:
        OSError: naming the file; the one before is whole.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     save(Path(folder), Checkpoint({"seconds": 1.5}, {}))
        ...     load(Path(folder))
        Checkpoint(notes={'seconds': 1.5}, state={})
    """
    content, last = pack(checkpoint), folder / LAST
    if last.exists():
        with named(last):
            os.replace(last, folder / BEFORE)
    store(last, content)


def exists(folder: Path) -> bool:
    """Whether a run has come as far as a checkpoint.

    Args:
        folder: Of the run.

    Returns:
        True also if it cannot be believed.

    Example:
        >>> exists(Path("nowhere"))
        False
    """
    return (folder / LAST).exists() or (folder / BEFORE).exists()


def load(folder: Path) -> Checkpoint | None:
    """The last checkpoint of a run.

    Args:
        folder: Of the run.

    Returns:
        None if there is none yet.

    Raises:
        ValueError: if it cannot be believed, naming the one before if that can.

    Example:
        >>> load(Path("nowhere"))
    """
    last, before = folder / LAST, folder / BEFORE
    if not exists(folder):
        return None
    try:
        return _read(last if last.exists() else before)
    except ValueError as error:
        remedy = "move it away, and the run begins anew"
        if last.exists() and before.exists():
            remedy = f"{before} is no better: {remedy}"
            if _is_whole(before):
                remedy = f"move it away, and the run goes on from {before}"
        raise ValueError(f"{error}; {remedy}") from None


def pack(checkpoint: Checkpoint) -> bytes:
    """A checkpoint as the bytes of its file.

    Args:
        checkpoint: What is kept.

    Returns:
        The same bytes for the same checkpoint.

    Example:
        >>> pack(Checkpoint({}, {}))[:26]
        b'ppo_ref checkpoint, format'
    """
    buffer = io.BytesIO()
    torch.save(checkpoint.state, buffer)
    body = json.dumps(checkpoint.notes).encode() + b"\n" + buffer.getvalue()
    told = f"format {FORMAT}, SHA-256 {hashlib.sha256(body).hexdigest()}"
    return f"ppo_ref checkpoint, {told}\n".encode() + body


def unpack(content: bytes) -> Checkpoint:
    """A checkpoint from the bytes of its file; nothing in them is run.

    Args:
        content: Of the file.

    Returns:
        With all tensors on the CPU.

    Raises:
        ValueError: if this is no checkpoint, one of another format, or damaged.

    Example:
        >>> unpack(pack(Checkpoint({"a": 1}, {"b": 2})))
        Checkpoint(notes={'a': 1}, state={'b': 2})
        >>> unpack(pack(Checkpoint({"a": 1}, {"b": 2}))[:-1])
        Traceback (most recent call last):
        ValueError: is damaged or cut off: its hash is not the one that it states
    """
    first = _FIRST.match(content)
    if not first:
        _refuse(f"is no checkpoint of ppo_ref: it begins with {content[:8]!r}")
    if int(first[1]) != FORMAT:
        _refuse(f"must be of format {FORMAT}, got format {int(first[1])}")
    body = content[first.end() :]
    if hashlib.sha256(body).hexdigest() != first[2].decode():
        _refuse("is damaged or cut off: its hash is not the one that it states")
    notes, _, state = body.partition(b"\n")
    try:
        found = torch.load(io.BytesIO(state), map_location="cpu", weights_only=True)
        return Checkpoint(json.loads(notes), found)
    except Exception:  # torch has many names for what it does not load
        _refuse("holds something else than numbers, and was not loaded")


def _read(path: Path) -> Checkpoint:
    try:
        return unpack(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None


def _is_whole(path: Path) -> bool:
    try:
        return bool(_read(path))
    except ValueError:
        return False


def _refuse(told: str) -> NoReturn:
    raise ValueError(told)
