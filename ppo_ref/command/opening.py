"""A folder for a new run, or that of one that was begun; one process at a time."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from ppo_ref.command import checkpoint
from ppo_ref.command.run_folder import CONFIG, FORMAT, RunFolder
from ppo_ref.command.settings import Settings
from ppo_ref.command.settings_json import as_json, from_json

RUNS = Path("runs")  # where runs go whose folder is not named


@contextmanager
def created(path: Path | None, chosen: Settings) -> Iterator[RunFolder]:
    """A folder for a new run, for as long as it is written.

    Args:
        path: Of the folder; the first free number below ``runs`` if left out.
        chosen: Settings of the run, which are written into it.

    Returns:
        A context with the folder.

    Raises:
        ValueError: if the folder holds anything, or another process writes there.
        OSError: if it cannot be written.

    Example:
        >>> from ppo_ref.command.settings import given
        >>> with created(Path("ppo_ref"), given({})):
        ...     pass
        Traceback (most recent call last):
        ValueError: ppo_ref must be new or empty, but holds __init__.py
    """
    path = path or _free()
    path.mkdir(parents=True, exist_ok=True)
    with _claimed(path):
        if (path / CONFIG).exists():
            raise ValueError(
                f"{path} holds a run already; go on with it by --resume {path}, or "
                "name another folder by --out"
            )
        held = sorted(name for name in os.listdir(path) if name != f".{CONFIG}.new")
        if held:
            raise ValueError(f"{path} must be new or empty, but holds {held[0]}")
        folder = RunFolder(path, chosen, torch.__version__)
        about = {"format": FORMAT, "torch": torch.__version__}
        try:
            folder.store_json(CONFIG, {**about, **as_json(chosen)})
            yield folder
        except (OSError, ValueError):
            if not checkpoint.exists(path):
                folder.discard()
            raise


@contextmanager
def reopened(path: Path) -> Iterator[RunFolder]:
    """The folder of a run that was begun, for as long as it is written.

    Args:
        path: Of the folder.

    Returns:
        A context with the folder.

    Raises:
        ValueError: if it holds no run, a damaged one, or one of another format, or
            another process writes there.

    Example:
        >>> with reopened(Path("nowhere")):
        ...     pass
        Traceback (most recent call last):
        ValueError: nowhere/config.json is missing: no run was begun there; begin \
one by --out nowhere
    """
    config = path / CONFIG
    if not config.exists():
        raise ValueError(
            f"{config} is missing: no run was begun there; begin one by --out {path}"
        )
    with _claimed(path):
        try:
            found = json.loads(config.read_text("utf-8"))
            if found["format"] != FORMAT:
                raise ValueError(f"format must be {FORMAT}, got {found['format']}")
            kept, version = from_json(found), found["torch"]
        except (ValueError, TypeError, KeyError) as error:
            told = f"{config} is damaged, or not of this ppo_ref: {error}"
            raise ValueError(told) from None
        yield RunFolder(path, kept, version)


def _free() -> Path:
    number = 1
    while True:
        path = RUNS / str(number)
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return path


@contextmanager
def _claimed(path: Path) -> Iterator[None]:
    """The system lets go of the folder, too, when the process is killed."""
    handle = os.open(path, os.O_RDONLY)
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"{path} is being written by another process") from None
    except OSError:
        pass  # a file system without locks is trusted to have one user
