"""The folder of a run: its settings, its logs, its checkpoint; one process writes."""

import fcntl
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ppo_ref.command import checkpoint
from ppo_ref.command.checkpoint import LONGEST, Checkpoint, naming, store, sync
from ppo_ref.command.fitting import (
    require_dict,
    require_kind,
    require_number,
    require_state,
)
from ppo_ref.command.settings import Settings
from ppo_ref.command.terminal import reason_of
from ppo_ref.train.trainer import Trainer

RUNS = Path("runs")  # where runs go whose folder is not named
CONFIG, SUMMARY = "config.json", "summary.json"
STATISTICS, TOKENS, SECONDS = "statistics.jsonl", "tokens.jsonl", "seconds.jsonl"
LOGS = STATISTICS, TOKENS, SECONDS
FORMAT = 3


class RunFolder(NamedTuple):
    """One run on the disk: its path, settings, and the torch it was begun with."""

    path: Path
    settings: Settings
    torch_version: str

    def add(self, log: str, line: Mapping[str, Any]) -> None:
        """Add a line to one of the logs."""
        add_line(self.path / log, line)

    def store_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a file that people read, too."""
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        store(self.path / name, f"{text}\n".encode())

    def save(self, state: dict[str, Any], **notes: Any) -> None:
        """Store the trainer's state, and how long the logs are by now."""
        for log in self.logs():
            sync(log)
        notes["logs"] = {name: _mark(self.path / name) for name in LOGS}
        notes["settings"] = self.settings.to_json()
        checkpoint.save(self.path, Checkpoint(notes, state))

    def checkpoint_size(self) -> int:
        """Bytes of the last checkpoint; 0 if there is none."""
        last = self.path / checkpoint.LAST
        return last.stat().st_size if last.exists() else 0

    def load(self, trainer: Trainer) -> Checkpoint | None:
        """The last checkpoint, None at the beginning; logs are cut back to it.

        Nothing is changed if the checkpoint or one of the logs is refused.
        """

        def require_fit(held: Checkpoint) -> None:
            self._require_notes(held.notes)
            require_state(trainer, held.state)

        last = checkpoint.load(self.path, require_fit)
        marks = last.notes["logs"] if last else {}
        for name in marks.keys() & set(LOGS):
            size, sha256 = marks[name]
            if _mark(log := self.path / name, size) != (size, sha256):
                raise ValueError(
                    f"{log} must begin with the {size} bytes that it had at the "
                    "checkpoint, but has been changed; put them back, or begin another "
                    "run by --out"
                )
        for log in self.logs():
            with naming(log):
                os.truncate(log, marks[log.name][0] if marks else 0)
        return last

    def logs(self) -> list[Path]:
        """The logs that have been begun."""
        return [log for name in LOGS if (log := self.path / name).exists()]

    def discard(self) -> None:
        """Take away a run that has not come as far as its first checkpoint."""
        for file in (*self.logs(), self.path / CONFIG):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # more may lie there
            self.path.rmdir()

    def _require_notes(self, notes: Any) -> None:
        require_dict("notes", notes, ("logs", "settings", "seconds", "held_out_before"))
        require_number("notes.seconds", notes["seconds"])
        if notes["held_out_before"] is not None:
            require_number("notes.held_out_before", notes["held_out_before"])
        require_dict("notes.settings", others := notes["settings"])
        for name, value in self.settings.to_json().items():
            if (other := others.get(name)) != value:
                raise ValueError(
                    f"it must have been made with the settings of {CONFIG}, "
                    f"{name} {value}, got {other}"
                )
        require_dict("notes.logs", notes["logs"], LOGS)
        for name in LOGS:
            mark = notes["logs"][name]
            if not isinstance(mark, tuple) or [*map(type, mark)] != [int, str]:
                raise ValueError(
                    f"notes.logs.{name} must be a size and a hash, got {mark}"
                )


@contextmanager
def create_run(path: Path | None, settings: Settings) -> Iterator[RunFolder]:
    """A new folder for a run, locked while it is written; None takes a free number."""
    path = path or _free_number()
    path.mkdir(parents=True, exist_ok=True)
    with _lock(path):
        if (path / CONFIG).exists():
            raise ValueError(
                f"{path} holds a run already; go on with it by --resume {path}, or "
                "name another folder by --out"
            )
        names = sorted(name for name in os.listdir(path) if name != f".{CONFIG}.new")
        if names:
            raise ValueError(f"{path} must be new or empty, but holds {names[0]}")
        folder = RunFolder(path, settings, torch.__version__)
        about = {"format": FORMAT, "torch": torch.__version__}
        try:
            folder.store_json(
                CONFIG,
                {
                    **about,
                    "settings": settings.to_json(),
                    "files": file_hashes(settings),
                },
            )
            yield folder
        except (OSError, ValueError):
            if not checkpoint.exists(path):
                folder.discard()
            raise


@contextmanager
def reopen_run(path: Path) -> Iterator[RunFolder]:
    """The folder of a run that was begun, locked while it is written."""
    config = path / CONFIG
    if not config.exists():
        raise ValueError(
            f"{config} is missing: no run was begun there; begin one by --out {path}"
        )
    with _lock(path):
        try:
            content = json.loads(config.read_text("utf-8"))
            require_dict("it", content)
            if content.get("format") != FORMAT:
                got = content.get("format")
                raise ValueError(f"format must be {FORMAT}, got {got}")
            if others := content.keys() ^ {"format", "torch", "settings", "files"}:
                raise ValueError(f"it differs in {', '.join(sorted(others))}")
            require_dict("settings", content["settings"])
            require_dict("files", content["files"])
            require_kind("torch", content["torch"], str)
            settings = Settings.from_json(content["settings"])
            folder = RunFolder(path, settings, content["torch"])
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            reason = reason_of(error)[:LONGEST]
            raise ValueError(
                f"{config} is damaged, or not of this ppo_ref: {reason}"
            ) from None
        _require_same_files(file_hashes(settings), content["files"])
        yield folder


def file_hashes(settings: Settings) -> dict[str, str]:
    """SHA-256 of each file, besides the model's, that a run is made from."""
    hashes = {}
    for path in settings.files():
        if path.is_file():  # what is missing is told by whoever reads it
            hashes[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes


def _require_same_files(now: Mapping[str, str], begun: Mapping[str, Any]) -> None:
    for path, sha256 in now.items():
        if begun.get(path) != sha256:
            raise ValueError(
                f"{path} must be as it was when the run was begun, and has been "
                "changed; put it back, or begin another run by --out"
            )


def add_line(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line of JSON to a file, whole or not at all; what is not finite is null."""
    finite = {name: _finite(value) for name, value in line.items()}
    content = f"{json.dumps(finite, ensure_ascii=False, allow_nan=False)}\n".encode()
    with naming(path), open(path, "ab", buffering=0) as log:
        before = log.tell()
        try:
            while content:
                content = content[log.write(content) :]
        except BaseException:
            os.truncate(path, before)
            raise


def _mark(log: Path, size: int | None = None) -> tuple[int, str]:
    """The size of a log, or of its beginning, and the hash of that."""
    content = log.read_bytes()[:size] if log.exists() else b""
    return len(content), hashlib.sha256(content).hexdigest()


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _free_number() -> Path:
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
def _lock(path: Path) -> Iterator[None]:
    """The system unlocks the folder when the process is killed, too."""
    handle = os.open(path, os.O_RDONLY)
    try:
        # A file system without locks is trusted to have one user.
        with suppress(OSError):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(
                    f"{path} is being written by another process"
                ) from None
        yield
    finally:
        os.close(handle)
