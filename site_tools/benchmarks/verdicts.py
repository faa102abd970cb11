"""What ``make bench`` holds ``ppo_ref`` to, and whether the record meets it."""

from collections.abc import Iterator
from pathlib import Path

from site_tools.benchmarks import words
from site_tools.benchmarks.amounts import amount, times
from site_tools.benchmarks.floors import FLOORS, Ceiling, Floor, measured
from site_tools.benchmarks.record import Record, Result
from site_tools.benchmarks.words import word

HEADS = (
    ("比什么", "what is compared"),
    ("至少 / 至多", "at least / at most"),
    ("测得", "measured"),
    ("", ""),
)
STATES = {
    "met": ("达到", "met"),
    "missed": ("没达到", "NOT met"),
    "missing": ("没测", "not measured"),
}
COUNT = (
    "要求 {all} 条：达到 {met} 条，没达到 {missed} 条，没测 {missing} 条。",
    "{all} are required: {met} met, {missed} not met, {missing} not measured.",
)
ALL = ("每一条", "Each of them")
AGAINST = ("{contender}对 {against}", "{contender} against {against}")
SUBJECTS = {
    "log-probs and entropy": ("log-prob 和熵", "log-probs and entropy"),
    "whole step": ("一整步", "whole step"),
    "gae": ("GAE", "GAE"),
}
MEMORY = ("，内存", ", memory")


def lines(record: Record, lang: str, root: Path) -> Iterator[str]:
    """The count, what is not met, and all of it, folded.

    Args:
        record: What was measured.
        lang: The language of the words.
        root: The project's folder; not read.
    """
    judged = [
        (_state(floor, result), floor, result)
        for floor, result in measured(FLOORS, record.results, record.device)
    ]
    states = [state for state, _, _ in judged]
    counts = {state: states.count(state) for state in STATES}
    yield f"<p>{word(COUNT, lang).format(all=len(states), **counts)}</p>"
    missed = [one for one in judged if one[0] == "missed"]
    if missed:
        yield from _table(missed, lang)
    yield f"<details><summary>{word(ALL, lang)}</summary>"
    yield from _table(judged, lang)
    yield "</details>"


Judged = tuple[str, Floor | Ceiling, Result | None]


def _state(floor: Floor | Ceiling, result: Result | None) -> str:
    if result is None:
        return "missing"
    return "met" if floor.judge(result)[0] else "missed"


def _table(judged: list[Judged], lang: str) -> Iterator[str]:
    yield '<table class="counts benchmarks"><thead><tr>'
    yield "".join(f'<th scope="col">{word(head, lang)}</th>' for head in HEADS[:3])
    yield "<td></td></tr></thead><tbody>"
    for state, floor, result in judged:
        bound = floor.least if isinstance(floor, Floor) else floor.most
        unit = "bytes" if floor.setting.endswith("memory") else "seconds"
        found = _shown(floor, floor.value(result), unit, lang) if result else ""
        cells = (_shown(floor, bound, unit, lang), found, word(STATES[state], lang))
        shown = "".join(f"<td>{cell}</td>" for cell in cells)
        yield f'<tr><th scope="row">{_name(floor, lang)}</th>{shown}</tr>'
    yield "</tbody></table>"


def _shown(floor: Floor | Ceiling, value: float, unit: str, lang: str) -> str:
    if isinstance(floor, Floor):
        return times(value)
    return amount(value, unit, lang)


def _name(floor: Floor | Ceiling, lang: str) -> str:
    subject = word(SUBJECTS.get(floor.subject, (floor.subject, floor.subject)), lang)
    memory = word(MEMORY, lang) if floor.setting.endswith("memory") else ""
    who = words.contender(floor.contender, lang)
    if isinstance(floor, Floor):
        against = words.contender(floor.against, lang)
        who = word(AGAINST, lang).format(contender=f"{who} ", against=against)
        who = who.replace("  ", " ")
    where = words.setting(floor.setting, lang)
    comma = "，" if lang == "zh" else ", "
    detail = f'<span class="detail">{subject}{comma}{where}{memory}</span>'
    return f"{who}<br>{detail}"
