"""Judging the figures of a log: what each says, and which comes first."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from ppo_ref.check.doctor.figures import FIGURES, LOST, ORDER, SOME_LOST, names_of
from ppo_ref.check.doctor.measuring import measure
from ppo_ref.check.doctor.reading import Log

LEVELS = ("broken", "look", "note", "fine")
# What counts lines or epochs is no figure of the training; the first of them that is
# logged tells whether the log begins with the run.
COUNTERS = (
    "step",
    "_step",
    "Step",
    "training/global_step",
    "trainer/global_step",
    "global_step",
    "iteration",
    "epoch",
)
NO_FIGURES = {*COUNTERS, "pid", "_timestamp", "_runtime"}
COMPARE = {"<": float.__lt__, ">": float.__gt__, "=": float.__eq__}

Features = Mapping[str, float]


class Finding(NamedTuple):
    """One figure of a log, and what is to be said of it.

    ``level`` is broken, look, note or fine; ``row`` the section of the page with the
    symptoms; ``follows`` whether it is brought about by something else; ``claims`` what
    it takes for certain, of which no two findings may contradict each other;
    ``begin`` the first value, ``last`` the mean of the last fifth, both of the finite
    ones. ``lost`` of the ``steps`` that were logged are not finite.
    """

    key: str
    level: str
    says: str
    row: str
    follows: bool
    claims: tuple[str, ...]
    begin: float
    last: float
    steps: int
    lost: int

    @property
    def course(self) -> str:
        """From where to where it went; where a step has no number, that is said."""
        went = f"{self.begin:.4g} -> {self.last:.4g}"
        steps = f"{self.steps} step{'' if self.steps == 1 else 's'}"
        if self.lost == self.steps:
            return f"never finite in {steps}"
        if self.lost:
            return f"not finite in {self.lost} of {steps}, else {went}"
        return went


def judge(log: Log, lang: str = "en") -> list[Finding]:
    """Judge each known figure; ``lang`` is en or zh.

    The worst come first, and of those that are equally bad the causes before what they
    bring about. Of a figure's names the first in ``doctor.json`` is judged that the
    log has; where a name has a star, all that fit are, and the worst is told.
    """
    from_start = begins_with_run(log)
    measured = {
        figure["id"]: {
            name: measure(log[name], from_start=from_start)
            for name in _judged(figure, log)
        }
        for figure in FIGURES
    }
    others = _features_of_others(measured)
    found = []
    for figure in FIGURES:
        of_names = [
            _finding(figure, name, features, others, lang)
            for name, features in measured[figure["id"]].items()
        ]
        found += sorted(of_names, key=lambda one: LEVELS.index(one.level))[:1]
    return sorted(_first_lost_alone(found, log), key=_rank)


def _first_lost_alone(found: Sequence[Finding], log: Log) -> list[Finding]:
    """Of the figures that are not finite the one that was lost first is broken.

    The others, lost with it or after it, are noted.
    """

    def begins(one: Finding) -> float:
        values = log[one.key]
        finite = takewhile(math.isfinite, values)
        return sum(1 for _ in finite) / len(values)

    lost = [one for one in found if one.row == "nan" and one.level == "broken"]
    if not lost:
        return list(found)
    first = min(lost, key=begins)
    return [
        one._replace(level="note") if one in lost and one is not first else one
        for one in found
    ]


def _rank(one: Finding) -> tuple[int, bool, int]:
    return LEVELS.index(one.level), one.follows, ORDER.index(one.row)


def begins_with_run(log: Log) -> bool:
    """Say whether the first line of a log is from the first steps of its run.

    Where no counter is logged that is not known, and the answer is no.
    """
    for name in COUNTERS:
        counted = log.get(name, [])
        if len(counted) > 1:
            return counted[0] <= 1.5 * (counted[1] - counted[0])
    return False


def goes_back(log: Log) -> bool:
    """Say whether the counter of steps goes back: two runs, or one that went on."""
    for name in COUNTERS:
        counted = log.get(name, [])
        if len(counted) > 1:
            return any(after < before for before, after in pairwise(counted))
    return False


def _judged(figure: Mapping[str, Any], log: Log) -> list[str]:
    names = names_of(figure, log)
    if any("*" in key for key in figure["keys"]):
        return names
    return names[:1]


def _features_of_others(measured: Mapping[str, Mapping[str, Features]]) -> Features:
    """Features as cases of other figures name them: clip.last.

    ``any.gone`` is the largest number of steps at the end in which some figure has no
    number.
    """
    found = {"any.gone": 0.0}
    for figure in FIGURES:
        for features in measured[figure["id"]].values():
            if not figure.get("may_be_nan"):
                found["any.gone"] = max(found["any.gone"], features["gone"])
            for name, value in features.items():
                found.setdefault(f"{figure['id']}.{name}", value)
    return found


def _finding(
    figure: Mapping[str, Any],
    name: str,
    features: Features,
    others: Features,
    lang: str,
) -> Finding:
    case = _case(figure, {**others, **features})
    return Finding(
        key=name,
        level=case.get("level", "fine"),
        says=case.get(lang, ""),
        row=case.get("row", figure["row"]),
        follows=case.get("follows", False),
        claims=tuple(case.get("claims", ())),
        begin=features["begin"],
        last=features["last"],
        steps=int(features["steps"]),
        lost=int(features["lost"]),
    )


def _case(figure: Mapping[str, Any], features: Features) -> dict[str, Any]:
    """The first case of a figure that holds, or an empty one."""
    counted = features["lost"] > 0 and not figure.get("may_be_nan")
    if counted and features["gone"] > 0:
        return {**LOST, **figure.get("lost", {})}
    cases: list[dict[str, Any]] = figure["cases"]
    for case in cases:
        wanted = all(_holds(one, features) for one in case["if"])
        if wanted and not any(_holds(one, features) for one in case.get("unless", [])):
            return SOME_LOST if counted and case["level"] == "fine" else case
    return SOME_LOST if counted else {}


def _holds(condition: Sequence[Any], features: Features) -> bool:
    """Of a figure that was not logged nothing holds; ``clip.last`` is another's."""
    name, sign, limit = condition
    return COMPARE[sign](float(features.get(name, math.nan)), float(limit))
