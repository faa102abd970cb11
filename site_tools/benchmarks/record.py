"""What ``make bench`` found, as one JSON file.

    {"date": "2026-11-22", "commit": "0123456...", "dirty": false, "device": "cpu",
     "machine": {"processor": "...", "cores": 2, "threads": 2, "gpu": ""},
     "versions": {"python": "3.11.2", "torch": "2.13.0", "verl": "0.9.1", ...},
     "package": "0123456789abcdef",
     "results": [
       {"subject": "gae", "setting": "masked 8x128", "sizes": {"batch": 8, "time": 128},
        "over": "", "unit": "seconds", "contenders": {
          "gae": {"median": ..., "lower_quartile": ..., "upper_quartile": ...,
                  "n": ...}, ...}}, ...],
     "slopes": [
       {"subject": "growth", "contender": "gae", "over": "time", "exponent": ...,
        "sizes": [128, ...]}, ...]}

``dirty`` says that the sources differed from the commit, ``package`` is the hash of
``ppo_ref``. A slope is the exponent k of cost = c * size**k, as ``growth`` fits it.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from site_tools.files import store


@dataclass(frozen=True)
class Spread:
    """Where measurements lie: their median and quartiles, and how many they are."""

    median: float
    lower_quartile: float
    upper_quartile: float
    n: int


@dataclass(frozen=True)
class Result:
    """What a comparison found: its own words, and a spread by contender."""

    subject: str
    setting: str
    sizes: Mapping[str, int]
    over: str
    unit: str
    contenders: Mapping[str, Spread]

    def ratio(self, contender: str, against: str) -> float:
        """How many times less the contender takes, by the medians."""
        return self.contenders[against].median / self.contenders[contender].median


@dataclass(frozen=True)
class Slope:
    """How a contender's cost grows with a size."""

    subject: str
    contender: str
    over: str
    exponent: float
    sizes: Sequence[int]


@dataclass(frozen=True)
class Record:
    """All that a run found, and where."""

    date: str
    commit: str
    dirty: bool
    device: str
    machine: Mapping[str, str | int]
    versions: Mapping[str, str]
    results: Sequence[Result]
    slopes: Sequence[Slope]
    package: str = ""

    def result(self, subject: str, setting: str) -> Result:
        """What one comparison found.

        Raises:
            KeyError: naming it, if the record has none.
        """
        for result in self.results:
            if (result.subject, result.setting) == (subject, setting):
                return result
        raise KeyError(f"no benchmark {subject}, {setting}")

    def about(self, subject: str) -> list[Result]:
        """What was found of a subject; empty where it was not measured."""
        return [result for result in self.results if result.subject == subject]


def load(file: Path) -> Record:
    """Read a record.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: naming the file, if it holds something else.
    """
    text = file.read_text("utf-8")
    try:
        raw = json.loads(text)
        results = [_result(**result) for result in raw["results"]]
        fitted = [Slope(**slope) for slope in raw["slopes"]]
        return Record(**(raw | {"results": results, "slopes": fitted}))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file}: no record of benchmarks: {error}") from None


def _result(contenders: Mapping[str, Mapping[str, Any]], **words: Any) -> Result:
    if words["unit"] not in ("seconds", "bytes"):
        raise ValueError(f"unit must be seconds or bytes, got {words['unit']}")
    if words["over"] not in {"", *dict(words["sizes"])}:
        raise ValueError(f"over must be one of the sizes, got {words['over']}")
    spreads = {name: Spread(**spread) for name, spread in contenders.items()}
    for name, spread in spreads.items():
        low, high = spread.lower_quartile, spread.upper_quartile
        if not (0 < low <= spread.median <= high < math.inf and spread.n >= 1):
            raise ValueError(f"{words.get('setting')}, {name}: {spread}")
    return Result(**words, contenders=spreads)


def save(file: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n"
    store(file, text.encode())
