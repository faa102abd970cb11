"""What the tables of runs and charts are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """How a run is made; a change of any of it makes the stored one stale.

    Args:
        what: What it shows, as one sentence.
        options: What the trainer is given, as JSON knows it.
        seed: Of all that is drawn.
    """

    what: str
    options: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Line:
    """A stored run, and what it is called in the chart."""

    run: str
    zh: str
    en: str


@dataclass(frozen=True)
class Panel:
    """A statistic, and what it is called in the chart."""

    statistic: str
    zh: str
    en: str


@dataclass(frozen=True)
class Chart:
    """Panels in two columns, and in each of them every line."""

    panels: tuple[Panel, ...]
    lines: tuple[Line, ...]
