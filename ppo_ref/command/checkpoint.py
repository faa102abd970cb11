"""Files that survive a kill: written whole or not at all, believed only if whole."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import torch

from ppo_ref.check.tensor_file import load_tensors

FORMAT = 2
LAST, BEFORE = "checkpoint.pt", "checkpoint.before.pt"
LONGEST = 200  # characters of a reason


class Checkpoint(NamedTuple):
    """The command's notes on a run, and the state of its trainer."""

    notes: dict[str, Any]
    state: dict[str, Any]


def _anything(held: Checkpoint) -> None:
    """A checkpoint of any run."""


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Store the last checkpoint; the one before it is kept under another name.

    Whenever the machine stops, one of the two is whole.
    """
    last, buffer = folder / LAST, io.BytesIO()
    torch.save({"format": FORMAT, **checkpoint._asdict()}, buffer)
    if last.exists():
        with naming(last):
            os.replace(last, folder / BEFORE)
    store(last, buffer.getvalue())


def exists(folder: Path) -> bool:
    """True once a run has come as far as a checkpoint, damaged or not."""
    return (folder / LAST).exists() or (folder / BEFORE).exists()


def load(
    folder: Path, require_fit: Callable[[Checkpoint], None] = _anything
) -> Checkpoint | None:
    """The last checkpoint of a run, or None; a damaged one is refused with a remedy.

    So is one at which ``require_fit`` raises anything, which it may change nothing by.
    """
    last, before = folder / LAST, folder / BEFORE
    if not exists(folder):
        return None
    try:
        return _read(last if last.exists() else before, require_fit)
    except ValueError as error:
        remedy = "move it away, and the run begins anew"
        if last.exists() and before.exists():
            remedy = f"{before} is no better: {remedy}"
            with suppress(ValueError):
                _read(before, require_fit)
                remedy = f"move it away, and the run goes on from {before}"
        raise ValueError(f"{error}; {remedy}") from None


def _read(path: Path, require_fit: Callable[[Checkpoint], None]) -> Checkpoint:
    """The checkpoint in a file, tensors on the CPU; no code in it is run."""
    content = path.read_bytes()
    if content[:2] != b"PK":  # what torch.save writes is a zip file
        raise ValueError(
            f"{path} is no checkpoint of ppo_ref: it begins with {content[:8]!r}"
        )
    try:
        whole = not ZipFile(io.BytesIO(content)).testzip()
    except Exception:  # zipfile, too, has many names for what it cannot read
        whole = False
    if not whole:
        raise ValueError(
            f"{path} is damaged or cut off: its checksums are not those that it states"
        )
    try:
        held = load_tensors(io.BytesIO(content))
        number, notes, state = (held[name] for name in ("format", "notes", "state"))
    except Exception:  # there are many names for what is not loaded, or no checkpoint
        raise ValueError(
            f"{path} holds something else than numbers, and was not loaded"
        ) from None
    if type(number) is not int or number != FORMAT:
        raise ValueError(
            f"{path} must be of format {FORMAT}, got format {str(number)[:LONGEST]}"
        )
    try:
        require_fit(Checkpoint(notes, state))
    except Exception as error:  # as many for what torch does not take over
        reason = str(error).partition("\n")[0][:LONGEST]
        raise ValueError(f"{path} does not fit this run: {reason}") from None
    return Checkpoint(notes, state)


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
