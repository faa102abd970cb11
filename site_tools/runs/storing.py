"""A run as the lines of its file."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ppo_ref.stored_runs import FORMAT
from site_tools.runs.model import Run

DIGITS = 6  # significant ones that are kept: float32 has seven


def header(name: str, run: Run, package: str) -> dict[str, Any]:
    """What the header of a run must say, whoever produced it and where.

    Args:
        name: Its name in the table.
        run: How it is made.
        package: The hash of the code it rests on.
    """
    return {
        "format": FORMAT,
        "name": name,
        "what": run.what,
        "options": dict(run.options),
        "seed": run.seed,
        "package": package,
    }


def numbered(name: str, made: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each line of a run with the number of its iteration, its floats shortened.

    Args:
        name: Of the run, for the message.
        made: What was measured: statistics as numbers by name, and records, which have
            the key ``record`` and belong to the iteration before them.

    Raises:
        ValueError: naming the statistic that is no finite number.

    Example:
        >>> for line in numbered("a", [{"kl": 1 / 3}, {"record": "row", "ids": [3]}]):
        ...     print(line)
        {'iteration': 1, 'kl': 0.333333}
        {'iteration': 1, 'record': 'row', 'ids': [3]}
    """
    iteration = 0
    for measured in made:
        iteration += "record" not in measured
        line = {"iteration": iteration, **_short(measured, name, iteration)}
        if line["iteration"] != iteration:
            told = f"must be {iteration}, as they are counted from 1, or left out"
            _refuse(name, iteration, "iteration", told, line["iteration"])
        if "record" not in line:
            for key, value in line.items():
                if isinstance(value, bool) or not isinstance(value, int | float):
                    _refuse(name, iteration, key, "must be a number", value)
        yield line


def text(header: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]) -> str:
    """The file of a run.

    Args:
        header: What :func:`header` gives, and with what it ran: torch and machine.
        lines: What :func:`numbered` gives.
    """
    body = list(lines)
    records = sum("record" in line for line in body)
    counts = {"iterations": len(body) - records, "records": records}
    whole = [{**header, **counts}, *body]
    return "".join(f"{_compact(line)}\n" for line in whole)


def _compact(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _short(measured: Mapping[str, Any], name: str, iteration: int) -> dict[str, Any]:
    def shorten(value: Any, key: str) -> Any:
        if isinstance(value, list | tuple):
            return [shorten(item, key) for item in value]
        if not isinstance(value, float):
            return value
        if not math.isfinite(value):
            _refuse(name, iteration, key, "must be finite", value)
        return float(f"{value:.{DIGITS}g}")

    return {key: shorten(value, key) for key, value in measured.items()}


def _refuse(name: str, iteration: int, key: str, told: str, value: Any) -> None:
    raise ValueError(f"run {name}, iteration {iteration}: {key} {told}, got {value!r}")
