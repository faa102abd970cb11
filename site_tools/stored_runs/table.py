"""Which runs are stored and which charts show them, as ``table.yml`` says."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

Names = Mapping[str, tuple[str, str]]  # what something is called in Chinese and English


@dataclass(frozen=True)
class Recipe:
    """The making of a run: what it shows, options of the trainer, seed of all draws."""

    what: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    preset: str = ""  # of the command, with a model that exists; none for the small one

    def row(self) -> dict[str, Any]:
        """The row as a stored run tells it; that of the small model has no preset."""
        row = asdict(self)
        if not self.preset:
            del row["preset"]
        return row


@dataclass(frozen=True)
class Chart:
    """Panels in two columns by their statistic, and in each a line by its run."""

    panels: Names
    lines: Names


_TABLE = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
RUNS = {name: Recipe(**row) for name, row in _TABLE["runs"].items()}
SMALL = {name: run for name, run in RUNS.items() if not run.preset}
REAL = {name: run for name, run in RUNS.items() if run.preset}
CHARTS = {path: Chart(**row) for path, row in _TABLE["charts"].items()}
