"""The figures of a training log, and which of them need a look.

``doctor.json`` has the figures that are known, by the names that verl, OpenRLHF, TRL
and ``ppo_ref`` log them under, and for each the cases in which something is to be said.
The page with the symptoms reads the same file, in the browser.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from textwrap import wrap
from typing import Any, NamedTuple

FIGURES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
KNOWN = {key for figure in FIGURES for key in figure["keys"]}
# The mean ratio of trainer to engine, which verl logs in two parts.
RATIO, K3, K1 = (
    "1 + rollout_corr/k3_kl - rollout_corr/kl",
    "rollout_corr/k3_kl",
    "rollout_corr/kl",
)
COUNTERS = {"step", "_step", "iteration", "pid"}  # of lines, not of the training
WINDOWS = 5  # parts of a run whose means are compared
LONGEST = 200  # letters of a name; what is longer names no figure
# Each place of a text is looked at a bounded number of times: a name begins where its
# word begins, and digits can be read in one way only. A megabyte in one word would
# otherwise take minutes. ASCII alone, as JavaScript reads it on the page.
NUMBER = r"[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)"
NAME = rf"[A-Za-z_][\w/@.-]{{0,{LONGEST - 1}}}"
PAIR = re.compile(
    # actor/kl:0.1, actor/kl:np.float64(0.1), "kl": 0.1, 'kl': '0.1', kl=tensor(0.1)
    rf"(?<![\w/@.-])({NAME})[\"']?[ \t]*[:=][ \t]*(?:[a-z_.]+\d*\()?[\"']?"
    rf"({NUMBER})(?![\w.])",
    re.IGNORECASE | re.ASCII,
)
WHOLE = re.compile(NUMBER, re.IGNORECASE | re.ASCII)
# A cell and what ends it; quotes may hold commas and ends of lines.
CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^,\n]*))(,|\n|\Z)')
LINE_END = re.compile(r"\r\n|\r|\n")
COLORS = re.compile(r"\x1b\[[0-9;]*m")
# Tokens of one response, as ppo_ref keeps them between the lines of figures.
RECORD = re.compile(r'\{"iteration": ?\d+, ?"record":')
PREFIX = re.compile(r"^train/")  # of OpenRLHF and TRL where they log to a service

Log = dict[str, list[float]]


class Finding(NamedTuple):
    """One figure of a log, and what is to be said of it.

    ``level`` is broken, look, note or fine; ``row`` the section of the page with the
    symptoms; ``begin`` the first value, ``last`` the mean of the last fifth, both of
    the finite ones. ``lost`` of the ``steps`` that were logged are not finite.
    """

    key: str
    level: str
    says: str
    row: str
    begin: float
    last: float
    steps: int
    lost: int

    @property
    def course(self) -> str:
        """From where to where it went; where a step has no number, that is said."""
        went = f"{self.begin:.4g} -> {self.last:.4g}"
        steps = _steps(self.steps)
        if self.lost == self.steps:
            return f"never finite in {steps}"
        if self.lost:
            return f"not finite in {self.lost} of {steps}, else {went}"
        return went


def read_log(text: str) -> Log:
    """Read the figures of a log, each in the order in which it was logged.

    The text is a console's, lines of JSON, or a table of comma-separated columns; names
    lose their ``train/``. Where verl's two KLs to the engine are there, so is the mean
    ratio that follows from them, by its formula. A log without a figure that is known
    is a ValueError.

    Example:
        >>> read_log("step:1 - actor/entropy:0.5 - perf/time:3\\nstep:2 - ...")
        {'step': [1.0], 'actor/entropy': [0.5], 'perf/time': [3.0]}
    """
    everything = LINE_END.split(COLORS.sub("", text))
    lines = [x for x in everything if x.strip(" \t") and not RECORD.match(x)]
    log: Log = {}
    for cells in _table(lines) or map(PAIR.findall, lines):
        named = {PREFIX.sub("", key): float(value) for key, value in cells}
        if KNOWN.intersection(named):
            for key, value in named.items():
                log.setdefault(key, []).append(value)
    if not log:
        raise ValueError(
            "read_log: a log must have lines with figures such as "
            f"critic/score/mean:0.5, got {len(lines)} lines without one that is known"
        )
    if K3 in log and K1 in log and len(log[K3]) == len(log[K1]):
        pairs = zip(log[K3], log[K1], strict=True)
        log[RATIO] = [1 + k3 - k1 for k3, k1 in pairs]
    return log


def judge(log: Log, lang: str = "en") -> list[Finding]:
    """Judge each known figure, the worst first; ``lang`` is en or zh.

    Of a figure's names in the log the first in ``doctor.json`` is judged.
    """
    logged: dict[str, str] = {}  # the name in the log, by a figure's own
    measured: dict[str, dict[str, float]] = {}
    others: dict[str, float] = {}
    for figure in FIGURES:
        name = figure["id"]
        keys = [key for key in figure["keys"] if key in log]
        if keys:
            logged[name] = keys[0]
            measured[name] = measure(log[keys[0]])
            for feature, value in measured[name].items():
                others[f"{name}.{feature}"] = value
    found = []
    for figure in FIGURES:
        name = figure["id"]
        if name in logged:
            features = measured[name]
            case = _case(figure, others | features)
            finding = Finding(
                key=logged[name],
                level=case.get("level", "fine"),
                says=case.get(lang, ""),
                row=case.get("row", figure["row"]),
                begin=features["begin"],
                last=features["last"],
                steps=int(features["steps"]),
                lost=int(features["lost"]),
            )
            found.append(finding)
    order = ("broken", "look", "note", "fine")
    return sorted(found, key=lambda finding: order.index(finding.level))


def measure(values: Sequence[float]) -> dict[str, float]:
    """Measure the features of a series that cases are made of.

    ``steps`` is how many were logged, ``lost`` how many of them are not finite; of the
    others ``begin``, ``max``, ``mean``, ``range``, and ``size``, the largest without
    its sign. ``last`` is the mean of the last fifth, ``usual`` its median, which one
    odd step does not move, ``extreme`` the largest mean of a fifth without its sign;
    ``change``, ``fall``, ``rise`` and ``drop`` are in ranges, ``growth`` is last fifth
    over first, ``jump`` the largest over the median. Where no number is finite, all but
    ``steps`` and ``lost`` are nan, of which no case holds.
    """
    x = [value for value in values if math.isfinite(value)]
    lost = len(values) - len(x)
    if not x:
        one = measure([0.0])
        return dict.fromkeys(one, math.nan) | {"steps": lost, "lost": lost}
    parts = min(WINDOWS, len(x))
    ends = [len(x) * i // parts for i in range(parts + 1)]
    means = [_mean(x[a:b]) for a, b in pairwise(ends)]
    first = means[0]
    last = means[-1]
    best = max(means)
    span = max(x) - min(x)

    def in_ranges(difference: float) -> float:
        return difference / span if span else 0.0

    growth = 1.0
    if first > 0:
        growth = last / first
    sizes = [abs(value) for value in x]
    largest = max(sizes)
    return {
        "steps": len(values),
        "lost": lost,
        "begin": x[0],
        "last": last,
        "usual": median(x[ends[-2] :]),
        "max": max(x),
        "mean": _mean(x),
        "size": largest,
        "extreme": max(map(abs, means)),
        "range": span,
        "change": in_ranges(last - first),
        "fall": in_ranges(max(x[0], first) - last),
        "rise": in_ranges(best - first),
        "drop": in_ranges(best - last),
        "growth": growth,
        "jump": largest / (median(sizes) or largest or 1.0),
    }


def report(log: Log, found: Sequence[Finding]) -> str:
    """The findings as lines of text, and the figures that were not judged."""
    lines = []
    margin = " " * 8
    for one in found:
        if one.level != "fine":
            lines.append(f"{one.level:7} {one.key}  {one.course}  [{one.row}]")
            lines += wrap(one.says, 80, initial_indent=margin, subsequent_indent=margin)
    fine = ", ".join(finding.key for finding in found if finding.level == "fine")
    lines += wrap(f"fine    {fine or '-'}", 80, subsequent_indent=margin)
    judged = COUNTERS.union(finding.key for finding in found)
    others = [key for key in log if key not in judged]
    if others:
        names = f"not judged, {len(others)}: {', '.join(others)}"
        lines += wrap(names, 80, subsequent_indent=margin, break_on_hyphens=False)
    lines.append(_steps(max(map(len, log.values()))))
    lines.append("In brackets: the section of the page debug/symptoms")
    return "\n".join(lines)


def _case(figure: dict[str, Any], features: dict[str, float]) -> dict[str, str]:
    """The first case of a figure that holds, or an empty one."""
    for case in figure["cases"]:
        if _holds(case["if"], features):
            found: dict[str, str] = case
            return found
    return {}


def _holds(conditions: Sequence[Sequence[Any]], features: dict[str, float]) -> bool:
    """Of a figure that was not logged nothing holds; ``clip.last`` is another's."""
    compare = {"<": float.__lt__, ">": float.__gt__, "=": float.__eq__}
    for name, sign, limit in conditions:
        value = float(features.get(name, math.nan))
        if not compare[sign](value, float(limit)):
            return False
    return True


def _steps(number: int) -> str:
    if number == 1:
        return "1 step"
    return f"{number} steps"


def _mean(x: Sequence[float]) -> float:
    """Numbers whose sum would be too large for a float have a mean, too."""
    return math.fsum(value / len(x) for value in x)


def _table(lines: Sequence[str]) -> Iterator[list[tuple[str, str]]] | None:
    """Rows under a header whose columns are called "key" or "run - key"."""
    if not lines or "," not in lines[0]:
        return None
    rows = _rows("\n".join(lines))
    names = [column.rpartition(" - ")[2] for column in next(rows)]
    if not KNOWN.intersection(PREFIX.sub("", name) for name in names):
        return None
    return (_named(names, row) for row in rows)


def _named(names: Sequence[str], row: Sequence[str]) -> list[tuple[str, str]]:
    """The cells of a row that are numbers, each with the name of its column."""
    found = []
    for name, cell in zip(names, row, strict=False):
        if 0 < len(name) <= LONGEST and WHOLE.fullmatch(cell):
            found.append((name, cell))
    return found


def _rows(table: str) -> Iterator[list[str]]:
    """The cells of each row of comma-separated values."""
    row = []
    for cell in CELL.finditer(table):
        quoted, plain, end = cell.groups("")
        row.append(quoted.replace('""', '"') or plain)
        if end != ",":
            yield row
            row = []
