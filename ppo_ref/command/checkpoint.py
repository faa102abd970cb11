"""Files that survive a kill: written whole or not at all, believed only if whole."""

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch

FORMAT = 1
LAST, BEFORE = "checkpoint.pt", "checkpoint.before.pt"
# The first line; its hash is of all that follows: a line of JSON, then torch's bytes.
_FIRST = re.compile(rb"ppo_ref checkpoint, format (\d+), SHA-256 ([0-9a-f]{64})\n")


class Checkpoint(NamedTuple):
    """The command's notes on a run, as JSON, and the state of its trainer."""

    notes: dict[str, Any]
    state: dict[str, Any]


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Store the last checkpoint; the one before it is kept under another name.

    Whenever the machine stops, one of the two is whole.
    """
    content, last = pack(checkpoint), folder / LAST
    if last.exists():
        with naming(last):
            os.replace(last, folder / BEFORE)
    store(last, content)


def exists(folder: Path) -> bool:
    """Whether a run has come as far as a checkpoint, damaged or not."""
    return (folder / LAST).exists() or (folder / BEFORE).exists()


def load(folder: Path) -> Checkpoint | None:
    """The last checkpoint of a run, or None; a damaged one is refused with a remedy."""
    last, before = folder / LAST, folder / BEFORE
    if not exists(folder):
        return None
    try:
        return _read(last if last.exists() else before)
    except ValueError as error:
        remedy = "move it away, and the run begins anew"
        if last.exists() and before.exists():
            remedy = f"{before} is no better: {remedy}"
            with suppress(ValueError):
                _read(before)
                remedy = f"move it away, and the run goes on from {before}"
        raise ValueError(f"{error}; {remedy}") from None


def pack(checkpoint: Checkpoint) -> bytes:
    """The bytes of a checkpoint's file, the same for the same checkpoint."""
    buffer = io.BytesIO()
    torch.save(checkpoint.state, buffer)
    body = json.dumps(checkpoint.notes).encode() + b"\n" + buffer.getvalue()
    digest = hashlib.sha256(body).hexdigest()
    return f"ppo_ref checkpoint, format {FORMAT}, SHA-256 {digest}\n".encode() + body


def unpack(content: bytes) -> Checkpoint:
    """The checkpoint in a file's bytes, tensors on the CPU; no code in it is run."""
    first = _FIRST.match(content)
    if not first:
        raise ValueError(f"is no checkpoint of ppo_ref: it begins with {content[:8]!r}")
    if int(first[1]) != FORMAT:
        raise ValueError(f"must be of format {FORMAT}, got format {int(first[1])}")
    body = content[first.end() :]
    if hashlib.sha256(body).hexdigest() != first[2].decode():
        raise ValueError(
            "is damaged or cut off: its hash is not the one that it states"
        )
    notes, _, tensors = body.partition(b"\n")
    try:
        state = torch.load(io.BytesIO(tensors), map_location="cpu", weights_only=True)
        return Checkpoint(json.loads(notes), state)
    except Exception:  # torch has many names for what it does not load
        raise ValueError(
            "holds something else than numbers, and was not loaded"
        ) from None


def store(target: Path, content: bytes) -> None:
    """Replace a file at once, and only when the new one is safely on the disk."""
    aside = target.with_name(f".{target.name}.new")
    try:
        with naming(target), open(aside, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    sync(target.parent)


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, safely to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system carry the name of this file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _read(path: Path) -> Checkpoint:
    try:
        return unpack(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None
