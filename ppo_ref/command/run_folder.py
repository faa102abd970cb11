"""The folder of a run: what it holds, and what of it a checkpoint knows."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppo_ref.command import checkpoint
from ppo_ref.command.checkpoint import Checkpoint
from ppo_ref.command.logs import NOTHING, add_line, cut, mark, require_mark
from ppo_ref.command.settings import Settings
from ppo_ref.command.settings_json import as_json
from ppo_ref.command.storing import store

CONFIG, SUMMARY, CHARTS = "config.json", "summary.json", "charts.svg"
STATISTICS, TOKENS, SECONDS = "statistics.jsonl", "tokens.jsonl", "seconds.jsonl"
LOGS = STATISTICS, TOKENS, SECONDS
FORMAT = 1  # of the folder


class RunFolder:
    """One run on the disk; nobody else writes there while this process lives.

    Args:
        path: Of the folder.
        settings: Of the run.
        torch_version: With which it was begun.
        writes: False for a process that leaves all writing to another.
    """

    def __init__(
        self, path: Path, settings: Settings, torch_version: str, writes: bool = True
    ) -> None:
        self.path, self.settings, self.torch_version = path, settings, torch_version
        self.writes = writes

    def add(self, log: str, line: Mapping[str, Any]) -> None:
        """Add a line to one of the files that grow.

        Args:
            log: Its name, one of ``LOGS``.
            line: What is added.
        """
        if self.writes:
            add_line(self.path / log, line)

    def store_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a file that people read, too.

        Args:
            name: Of the file.
            content: What it is to hold.
        """
        if not self.writes:
            return
        told = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        store(self.path / name, f"{told}\n".encode())

    def save(self, state: dict[str, Any], **notes: Any) -> None:
        """Keep where the trainer stands, and how far the files have grown by then.

        Args:
            state: Of the trainer.
            notes: What else is to be known when the run goes on.
        """
        if not self.writes:
            return
        logs = {name: mark(self.path / name) for name in LOGS}
        kept = {**notes, "logs": logs, **as_json(self.settings)}
        checkpoint.save(self.path, Checkpoint(kept, state))

    def load(self) -> Checkpoint | None:
        """The last checkpoint; the files are made what they were then.

        Returns:
            None if there is none, and the files are empty.

        Raises:
            ValueError: if the checkpoint, or what it says of the files, cannot be
                believed; then nothing has been changed.
        """
        found = checkpoint.load(self.path)
        if found:
            self._require_same_settings(found.notes)
        marks = found.notes["logs"] if found else dict.fromkeys(LOGS, NOTHING)
        for change in (require_mark, cut):
            for name in LOGS:
                change(self.path / name, *marks[name])
        return found

    def discard(self) -> None:
        """Take away a run that has not come as far as its first checkpoint."""
        for name in (*LOGS, CONFIG):
            (self.path / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # more may lie there
            self.path.rmdir()

    def _require_same_settings(self, notes: Mapping[str, Any]) -> None:
        ours = as_json(self.settings)
        for part, fields in ours.items():
            for name, value in fields.items():
                came = notes.get(part, {}).get(name)
                if came != value:
                    raise ValueError(
                        f"{self.path / checkpoint.LAST} must have been made with the "
                        f"settings of {CONFIG}, {name} {value}, got {came}"
                    )
