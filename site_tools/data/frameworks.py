"""Four lists of what releases do and did; each row stands on places in releases.

``docs/comparison.yml`` says concept by concept what each release does;
``docs/timeline.yml`` what changed in verl between two of its releases, and what a user
notices; ``docs/methods.yml`` since which release a project has a method;
``docs/knobs.yml`` what a setting is called and its default. Each file's first lines say
what a row holds.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from site_tools.data.facts import Concept, Entry, Release, concept
from site_tools.data.rows import (
    Form,
    OneLine,
    PageId,
    Row,
    Sentence,
    Words,
    read_rows,
    unique,
)
from site_tools.data.topics import TOPICS, TopicId

COMPARISON = "docs/comparison.yml"
TIMELINE = "docs/timeline.yml"
METHODS = "docs/methods.yml"
KNOBS = "docs/knobs.yml"
KNOBS_PAGE = "reference/knobs"  # the page that shows them
# The columns. A release has one trainer here; what is said of TRL depends on which.
TRAINERS = {
    "verl 0.9.1": "",
    "verl 0.3.0.post1": "",
    "OpenRLHF 0.11.2": "",
    "TRL 1.12.0": "PPO",
    "TRL 1.16.0": "GRPO",
}
RELEASES = tuple(TRAINERS)
# Of environments, not of answers: they stand only in the rows that they are named in.
OTHERS = ("TorchRL 0.14.1", "Stable-Baselines3 2.9.2")
NOW = RELEASES[0]
PROJECTS = ("verl", "OpenRLHF", "TRL")
NEWEST = {"verl": NOW, "TRL": RELEASES[-1], "OpenRLHF": RELEASES[2]}
GIVEN_NAME = re.compile(r'"(?P<name>--[\w.]+)"')  # of a command, as its parser has it
GIVEN_DEFAULT = re.compile(r"\bdefault=(\(.*\)|\[.*\]|[^,]+)")
PLACE_NUMBER = re.compile(r"\{(\d+)\}")
SAME, DIFFERS, NONE = "same", "differs", "none"
VerlRelease = Annotated[str, Form(r"verl \d\S*", "form_verl")]


@dataclass(frozen=True)
class Cell(Row):
    """The way of one release: in words, or just as the first release does.

    ``switch`` says that the thing is on or off by default, which place shows the
    default, and, where that place does not, what it is called: ``off 1 beta``.
    """

    kind: Annotated[str, Form(f"{SAME}|{DIFFERS}|{NONE}", "form_cell")] = DIFFERS
    zh: Words = ""
    en: Words = ""
    switch: Annotated[str, Form(r"(on|off) [1-9]( \S+)?", "form_switch")] = ""

    def __post_init__(self) -> None:
        if (self.kind == SAME) == bool(self.zh and self.en):
            raise self.refuse("cell_words")

    @property
    def by_default(self) -> tuple[str, int, str]:
        """On or off, the number of the place that says so, and its name or nothing."""
        state, number, *name = self.switch.split()
        return state, int(number) - 1, "".join(name)


@dataclass(frozen=True)
class Compared(Row):
    """One concept across the releases; the others are held against the first."""

    facts: OneLine
    topic: TopicId
    releases: dict[str, Cell]

    @property
    def switched(self) -> bool:
        """True where it is listed with what is on or off by default, too."""
        return any(cell.switch for cell in self.releases.values())


@dataclass(frozen=True)
class Change(Sentence):
    """One change of verl, dated by the two releases around it."""

    release: VerlRelease
    before: VerlRelease
    facts: OneLine
    zh_why: Words
    en_why: Words
    page: PageId


@dataclass(frozen=True)
class Shipped(Row):
    """One switch of a method: its first release, and its line today or its last one."""

    method: OneLine
    set: OneLine
    since: Entry
    before: Release = ""
    now: Entry | None = None
    until: Release = ""

    def __post_init__(self) -> None:
        if bool(self.now) == bool(self.until):
            raise self.refuse("shipped_today")

    @property
    def project(self) -> str:
        return self.since.release.partition(" ")[0]


Setting = Annotated[str, Form(r"\w+ [1-9]\d*( \S+)?", "form_setting")]


@dataclass(frozen=True)
class Knob(Row):
    """One setting, by its places in each project, as ``clip_ratio 1``.

    Behind the concept and the number stands its name, where the place does not say it
    or says a part of it. A project that is left out has no such setting.
    """

    knob: OneLine
    verl: tuple[Setting, ...] = ()
    TRL: tuple[Setting, ...] = ()
    OpenRLHF: tuple[Setting, ...] = ()

    def settings(self) -> dict[str, tuple[str, ...]]:
        return {project: getattr(self, project) for project in PROJECTS}


class Default(NamedTuple):
    """A setting of a release by its whole name, its default, and where both stand."""

    name: str
    value: str
    entry: Entry


def comparison(root: Path) -> tuple[Compared, ...]:
    """The comparison of releases in the project at ``root``, topic by topic."""
    rows = read_rows(root, COMPARISON, Compared)
    unique(rows, "facts")
    for row in rows:
        facts, written = _concept(row, root), [*row.releases]
        due = [name for name in RELEASES + OTHERS if name in {*RELEASES, *written}]
        if written != due:
            listed = ", ".join(RELEASES)
            raise row.refuse("release_row", releases=", ".join(written), due=listed)
        for release, cell in row.releases.items():
            _check_cell(cell, release, facts)
    return tuple(sorted(rows, key=lambda row: TOPICS.index(row.topic)))


def _check_cell(cell: Cell, release: str, concept: Concept) -> None:
    places = concept.of(release)
    values = {"release": release, "concept": concept.name, "count": len(places)}
    if cell.kind == NONE and places:
        raise cell.refuse("cell_none", **values, place_of=places[0].place)
    if cell.kind != NONE and not places:
        raise cell.refuse("cell_no_place", **values)
    switch = re.findall(r" (\d)", cell.switch)[:1]
    for number in PLACE_NUMBER.findall(cell.zh + cell.en) + switch:
        if not 1 <= int(number) <= len(places):
            raise cell.refuse("cell_place", **values, number=f"{{{number}}}")


def timeline(root: Path) -> tuple[Change, ...]:
    """The changes of verl in the project at ``root``, the oldest first."""
    changes = read_rows(root, TIMELINE, Change)
    for change in changes:
        facts, both = _concept(change, root), (change.before, change.release)
        before, after = ({place.code for place in facts.of(name)} for name in both)
        for release, places in zip(both, (before, after), strict=True):
            if not places:
                values = {"concept": facts.name, "release": release}
                raise change.refuse("cell_no_place", **values)
        if before == after:
            values = {"concept": facts.name, "before": both[0], "release": both[1]}
            raise change.refuse("change_none", **values)
    return tuple(sorted(changes, key=lambda change: version(change.release)))


def version(release: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", release)))


def shipped(root: Path) -> dict[str, dict[str, list[Shipped]]]:
    """The switches of each method, by project; none where a project has it not."""
    methods: dict[str, dict[str, list[Shipped]]] = {}
    for row in read_rows(root, METHODS, Shipped):
        projects = methods.setdefault(row.method, {name: [] for name in PROJECTS})
        projects[row.project].append(row)
    return methods


def knobs(root: Path) -> dict[str, dict[str, list[Default]]]:
    """The settings of each knob, by project, as its newest release has them."""
    rows = read_rows(root, KNOBS, Knob)
    unique(rows, "knob")
    return {
        row.knob: {
            project: [_default(row, text, NEWEST[project], root) for text in settings]
            for project, settings in row.settings().items()
        }
        for row in rows
    }


def _default(row: Knob, text: str, release: str, root: Path) -> Default:
    name, number, *named = text.split()
    concept = _named_concept(row, name, root)
    entries = concept.of(release)
    if int(number) > len(entries):
        values = {"release": release, "concept": concept.name, "count": len(entries)}
        raise row.refuse("cell_place", **values, number=number)
    entry = entries[int(number) - 1]
    given = GIVEN_NAME.search(entry.quote)
    value = entry.default or "".join(GIVEN_DEFAULT.findall(entry.quote)[:1])
    own = given["name"] if given else entry.key
    return Default("".join(named) or own, value.strip(" ,"), entry)


def knob_facts(root: Path) -> tuple[str, ...]:
    """The concepts that the knobs stand on."""
    rows = read_rows(root, KNOBS, Knob)
    every = [
        s for row in rows for settings in row.settings().values() for s in settings
    ]
    return tuple(dict.fromkeys(setting.split()[0] for setting in every))


def _concept(row: Compared | Change, root: Path) -> Concept:
    return _named_concept(row, row.facts, root)


def _named_concept(row: Row, name: str, root: Path) -> Concept:
    try:
        return concept(root, f"{name}.yml")
    except FileNotFoundError:
        raise row.refuse("facts_unknown", name=name) from None
