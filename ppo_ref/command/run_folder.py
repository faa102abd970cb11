"""The folder of a run: who may write there, what it holds, and where to go on."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from ppo_ref.command import checkpoint, settings
from ppo_ref.command.checkpoint import Checkpoint
from ppo_ref.command.settings import Settings
from ppo_ref.command.storing import NOTHING, add_line, cut, mark, store

CONFIG, SUMMARY, CHARTS = "config.json", "summary.json", "charts.svg"
STATISTICS, TOKENS, SECONDS = "statistics.jsonl", "tokens.jsonl", "seconds.jsonl"
LOGS = STATISTICS, TOKENS, SECONDS
FORMAT = 1  # of the folder
RUNS = Path("runs")  # where runs go whose folder is not named


class RunFolder:
    """One run on the disk; nobody else writes there while this process lives.

    Args:
        path: Of the folder.
        settings: Of the run.
        torch_version: With which it was begun.
    """

    def __init__(self, path: Path, settings: Settings, torch_version: str) -> None:
        self.path, self.settings, self.torch_version = path, settings, torch_version

    def add(self, log: str, line: Mapping[str, Any]) -> None:
        """Add a line to one of the files that grow."""
        add_line(self.path / log, line)

    def store_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a file that people read, too."""
        told = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        store(self.path / name, f"{told}\n".encode())

    def save(self, state: dict[str, Any], **notes: Any) -> None:
        """Keep where the trainer stands, and how far the files have grown by then."""
        logs = {name: mark(self.path / name) for name in LOGS}
        kept = {**notes, "logs": logs, **settings.as_json(self.settings)}
        checkpoint.save(self.path, Checkpoint(kept, state))

    def load(self) -> Checkpoint | None:
        """The last checkpoint, and the files as they were then; None if there is none.

        Raises:
            ValueError: if the checkpoint, or what it says of the files, cannot be
                believed; then nothing has been changed.
        """
        found = checkpoint.load(self.path)
        if found:
            self._require_same_settings(found.notes)
        for name in LOGS:
            size, sha256 = found.notes["logs"][name] if found else NOTHING
            cut(self.path / name, size, sha256)
        return found

    def discard(self) -> None:
        """Take away a run that has not come as far as its first checkpoint."""
        for name in (*LOGS, CONFIG):
            (self.path / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # more may lie there
            self.path.rmdir()

    def _require_same_settings(self, notes: Mapping[str, Any]) -> None:
        ours = settings.as_json(self.settings)
        for part, fields in ours.items():
            for name, value in fields.items():
                came = notes.get(part, {}).get(name)
                if came != value:
                    raise ValueError(
                        f"{self.path / checkpoint.LAST} must have been made with the "
                        f"settings of {CONFIG}, {name} {value}, got {came}"
                    )


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
            folder.store_json(CONFIG, {**about, **settings.as_json(chosen)})
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
            kept, version = settings.from_json(found), found["torch"]
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
