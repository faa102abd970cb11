"""Training runs that were made once and kept, so that they can be read at once.

A run is a file of lines, each a JSON object: first a header, then one line an iteration
with its statistics, and between them records, as of single tokens. Floats are kept to
six significant digits.
"""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

FORMAT = 1
FOLDER = Path(__file__).parent / "stored"
_HEADER = (
    "format",
    "name",
    "what",
    "options",
    "seed",
    "torch",
    "machine",
    "iterations",
    "records",
)


class StoredRun(NamedTuple):
    """The measurements of a training run.

    The header says how the run was made: its ``name``, ``what`` it is, ``options``,
    ``seed``, the version of ``torch``, the ``machine``. Iterations are numbered from 1
    as ``iteration``; a record has the number of the iteration that it belongs to.
    """

    header: dict[str, Any]
    iterations: list[dict[str, float]]
    records: list[dict[str, Any]]

    def column(self, statistic: str) -> list[float]:
        """One statistic, in the order of the iterations that measured it."""
        column = [line[statistic] for line in self.iterations if statistic in line]
        if not column:
            known: dict[str, float] = {}
            for line in self.iterations:
                known |= line
            raise ValueError(
                f"column: statistic must be one of {', '.join(known)}, got {statistic}"
            )
        return column


def stored_names() -> list[str]:
    """The names of all runs that come with the package.

    Returns:
        In alphabetical order.

    Example:
        >>> stored_names() == sorted(stored_names())
        True
    """
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def stored_run(name: str) -> StoredRun:
    """Read a run that comes with the package.

    Args:
        name: One of ``stored_names()``.

    Returns:
        Its header, its statistics by iteration, its records.

    Raises:
        ValueError: if there is no such run, or its file is damaged.

    Example:
        >>> stored_run("no such run")
        Traceback (most recent call last):
        ValueError: stored_run: name must be one of stored_names(), got no such run
    """
    if name not in stored_names():
        raise ValueError(f"stored_run: name must be one of stored_names(), got {name}")
    return parse_run((FOLDER / f"{name}.jsonl").read_text("utf-8"), name)


def parse_run(text: str, name: str) -> StoredRun:
    """Read the text of a stored run; a damaged one is refused by its line."""
    lines = [_object(line, name, at) for at, line in enumerate(text.splitlines(), 1)]
    if not lines:
        _refuse(name, 1, "must be a header, got nothing")
    header = lines[0]
    if missing := [key for key in _HEADER if key not in header]:
        _refuse(name, 1, f"must be a header, lacks {', '.join(missing)}")
    for key, value in (("format", FORMAT), ("name", name)):
        if header[key] != value:
            _refuse(name, 1, f"{key} must be {value}, got {header[key]}")
    iterations: list[dict[str, float]] = []
    records: list[dict[str, Any]] = []
    for at, line in enumerate(lines[1:], 2):
        if "record" in line:
            records.append(line)
        else:
            iterations.append(_numbers(line, name, at, len(iterations) + 1))
    for key, found in (("iterations", iterations), ("records", records)):
        if header[key] != len(found):
            told = f"{key} must be as many as the header says, {header[key]}"
            _refuse(name, len(lines), f"{told}, got {len(found)}")
    return StoredRun(header, iterations, records)


def _object(line: str, name: str, at: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        _refuse(name, at, f"must be a JSON object, got {line[:40]!r}")
    return found


def _numbers(line: dict[str, Any], name: str, at: int, count: int) -> dict[str, float]:
    for key, value in line.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and math.isfinite(value)):
            _refuse(name, at, f"{key} must be a finite number, got {value!r}")
    if line.get("iteration") != count:
        _refuse(name, at, f"iteration must be {count}, got {line.get('iteration')}")
    return line


def _refuse(name: str, at: int, told: str) -> NoReturn:
    raise ValueError(
        f"stored run {name}, line {at}: {told}; the file is damaged: "
        "install ppo_ref anew, or in its project run make runs"
    )
