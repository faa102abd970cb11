"""What releases do and did: three lists whose every row stands on places in docs/facts.

``docs/comparison.yml`` says concept by concept what each release does;
``docs/timeline.yml`` what changed in verl between two of its releases, and what a user
notices; ``docs/code_map.yml`` where the code that the dialogues name stood in the copy
that they read, and where it stands now. Each file's first lines say what a row holds.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from site_tools.data.dialogues import TOPICS
from site_tools.data.facts import Concept, Entry, concepts
from site_tools.data.rows import (
    Form,
    PageId,
    Preset,
    Row,
    Text,
    Words,
    read_rows,
    unique,
)

COMPARISON, TIMELINE, CODE_MAP = (
    f"docs/{name}.yml" for name in ("comparison", "timeline", "code_map")
)
RELEASES = ("verl 0.9.1", "verl 0.3.0.post1", "OpenRLHF 0.11.2", "TRL 1.12.0")
# Of environments, not of answers: they stand only in the rows that they are named in.
OTHERS = ("TorchRL 0.14.1", "Stable-Baselines3 2.9.2")
THEN, NOW = "PeterGriffinJin/Search-R1@a14dc3a", RELEASES[0]
PLACE = re.compile(r"\{(\d+)\}")
SAME, DIFFERS, NONE, FIRST = "same", "differs", "none", "first"


@dataclass(frozen=True)
class Cell(Row):
    """What one release does: in words, or just as the first release does."""

    kind: Annotated[str, Form("|".join((SAME, DIFFERS, NONE)), "form_cell")] = DIFFERS
    zh: Words = ""
    en: Words = ""

    def __post_init__(self) -> None:
        if self.line and (self.kind == SAME) == bool(self.zh and self.en):
            raise self.refuse("cell_words")


@dataclass(frozen=True)
class Compared(Row):
    """One concept across the releases; the others are held against the first."""

    facts: Text
    topic: Annotated[str, Form("|".join(TOPICS), "form_topic")]
    releases: dict[str, Cell]


@dataclass(frozen=True)
class Change(Row):
    """One change of verl, dated by the two releases around it."""

    release: Annotated[str, Form(r"verl \d\S*", "form_verl")]
    before: Annotated[str, Form(r"verl \d\S*", "form_verl")]
    facts: Text
    zh: Words
    en: Words
    zh_why: Words
    en_why: Words
    page: PageId


@dataclass(frozen=True)
class Reason(Row):
    """Why there is no such place."""

    zh: Words
    en: Words


@dataclass(frozen=True)
class Renamed(Row):
    """One piece of code: its names in the dialogues, then and now."""

    names: tuple[Text, ...]
    then: Annotated[Entry, Preset("release", THEN)] | Reason
    now: Annotated[Entry, Preset("release", NOW)] | Reason
    zh: Words
    en: Words
    page: PageId

    @property
    def places(self) -> list[Entry]:
        """Those of the two that are places."""
        return [place for place in (self.then, self.now) if isinstance(place, Entry)]


def parse_comparison(
    text: str, known: Mapping[str, Concept], topics: Sequence[str] = TOPICS
) -> tuple[Compared, ...]:
    """Read ``docs/comparison.yml``.

    Args:
        text: The file.
        known: The facts files, by name without ending.
        topics: Rows stand in their order.

    Raises:
        Refusal: naming the line, and what to write instead.
    """
    rows = read_rows(text, COMPARISON, Compared)
    unique(rows, "facts")
    for row in rows:
        concept = _concept(row, row.facts, known)
        names = [*row.releases]
        for name in [*RELEASES, *names]:
            if name not in names or name not in RELEASES + OTHERS:
                due = ", ".join(RELEASES)
                raise row.refuse("release_row", release=name, due=due)
        for release, cell in row.releases.items():
            _check_cell(cell, release, concept)
        kinds = [cell.kind for cell in row.releases.values()]
        if row.releases[RELEASES[0]].kind == NONE and SAME in kinds:
            raise row.refuse("cell_same_as_none")
    for one, two in pairwise(rows):
        if topics.index(two.topic) < topics.index(one.topic):
            raise two.refuse("topic_rows", topic=two.topic, order=", ".join(topics))
    return tuple(replace(row, releases=_in_order(row.releases)) for row in rows)


def _in_order(cells: dict[str, Cell]) -> dict[str, Cell]:
    cells = {name: cells[name] for name in RELEASES + OTHERS if name in cells}
    first = cells[RELEASES[0]]
    if first.kind != NONE:
        cells[RELEASES[0]] = replace(first, kind=FIRST)
    return cells


def _check_cell(cell: Cell, release: str, concept: Concept) -> None:
    places = concept.of(release)
    values = {"release": release, "concept": concept.name, "count": len(places)}
    if cell.kind == SAME and release == RELEASES[0]:
        raise cell.refuse("cell_same_first", **values)
    if cell.kind == NONE and places:
        raise cell.refuse("cell_none", **values, place_of=places[0].place)
    if cell.kind != NONE and not places:
        raise cell.refuse("cell_no_place", **values)
    for number in PLACE.findall(cell.zh + cell.en):
        if not 1 <= int(number) <= len(places):
            raise cell.refuse("cell_place", **values, number=f"{{{number}}}")


def parse_timeline(text: str, known: Mapping[str, Concept]) -> tuple[Change, ...]:
    """Read ``docs/timeline.yml``; of the same errors as :func:`parse_comparison`."""
    changes = read_rows(text, TIMELINE, Change)
    for change in changes:
        concept = _concept(change, change.facts, known)
        if version(change.before) >= version(change.release):
            order = {"before": change.before, "release": change.release}
            raise change.refuse("change_order", **order)
        hashes = {}
        for release in (change.before, change.release):
            hashes[release] = {place.hash for place in concept.of(release)}
            if not hashes[release]:
                values = {"release": release, "concept": concept.name}
                raise change.refuse("cell_no_place", **values)
        if hashes[change.before] == hashes[change.release]:
            both = {"before": change.before, "release": change.release}
            raise change.refuse("change_none", **both, concept=concept.name)
    for one, two in pairwise(changes):
        if version(two.release) < version(one.release):
            raise two.refuse("change_first", release=two.release, other=one.release)
    return changes


def version(release: str) -> tuple[int, ...]:
    """The numbers of a release, to sort by.

    Example:
        >>> version("verl 0.3.0.post1") < version("verl 0.10.0")
        True
    """
    return tuple(map(int, re.findall(r"\d+", release)))


def parse_code_map(text: str) -> tuple[Renamed, ...]:
    """Read ``docs/code_map.yml``; of the same errors as :func:`parse_comparison`."""
    rows = read_rows(text, CODE_MAP, Renamed)
    taken: dict[str, int] = {}
    for row in rows:
        for name in row.names:
            if name in taken:
                values = {"field": "names", "value": name, "first": taken[name]}
                raise row.refuse("data_twice", **values)
            taken[name] = row.line
    return rows


def _concept(row: Row, name: str, known: Mapping[str, Concept]) -> Concept:
    if name not in known:
        raise row.refuse("facts_unknown", name=name)
    return known[name]


def comparison(root: Path) -> tuple[Compared, ...]:
    """What releases do, in the project at ``root``."""
    return parse_comparison((root / COMPARISON).read_text("utf-8"), _known(root))


def timeline(root: Path) -> tuple[Change, ...]:
    """What changed in verl, in the project at ``root``."""
    return parse_timeline((root / TIMELINE).read_text("utf-8"), _known(root))


def code_map(root: Path) -> tuple[Renamed, ...]:
    """The code that the dialogues name, in the project at ``root``."""
    return parse_code_map((root / CODE_MAP).read_text("utf-8"))


def _known(root: Path) -> dict[str, Concept]:
    return {concept.id: concept for concept in concepts(root)}
