"""What releases do, concept by concept: short words over the places in docs/facts.

A file of YAML, ``docs/comparison.yml``, a row a concept:

    - facts: gae_mask                    # docs/facts/gae_mask.yml, whose title it takes
      topic: gae
      verl 0.9.1: {zh: 跳过它, en: skipped}
      verl 0.3.0.post1: same             # as the first of the releases
      OpenRLHF 0.11.2: {zh: "乘上 mask，{2}", en: "multiplied, {2}"}
      TRL 1.12.0: {none: {zh: 没有工具轮次, en: it has no tools}}
      TorchRL 0.14.1: same               # only where it speaks of the same thing

``{2}`` is what stands in the second place that the facts file has of that release, so
that a value is never written by hand.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from site_tools.data import records
from site_tools.data.facts import Concept

FILE = "comparison.yml"
RELEASES = ("verl 0.9.1", "verl 0.3.0.post1", "OpenRLHF 0.11.2", "TRL 1.12.0")
# Of environments, not of answers: they stand only in the rows that they are named in.
OTHERS = ("TorchRL 0.14.1", "Stable-Baselines3 2.9.2")
WORDS = {"zh": records.ANY, "en": records.ANY}
PLACE = re.compile(r"\{(\d+)\}")
SAME, DIFFERS, NONE, FIRST = "same", "differs", "none", "first"


class Cell(NamedTuple):
    """What one release does: in words, or just as the first release does."""

    kind: str
    zh: str = ""
    en: str = ""


class Row(NamedTuple):
    """One concept across the releases."""

    facts: str
    topic: str
    by_release: tuple[tuple[str, Cell], ...]


def parse(
    text: str, concepts: Mapping[str, Concept], topics: Sequence[str]
) -> tuple[Row, ...]:
    """Read ``docs/comparison.yml``.

    Args:
        text: The file.
        concepts: The facts files, by name without suffix.
        topics: The topics that a row may name; rows stand in their order.

    Raises:
        ValueError: naming the row, the release, and what to write instead.
    """
    items = records.load(text, FILE)
    if not isinstance(items, list):
        raise ValueError(f"{FILE}: must be a list of rows '- facts: gae_mask'")
    rows = [_row(n, item, concepts, topics) for n, item in enumerate(items, 1)]
    names = [row.facts for row in rows]
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{FILE}: {name} has two rows; write one of them only")
    order = [topics.index(row.topic) for row in rows]
    for row, here, after in zip(rows[1:], order, order[1:], strict=False):
        if after < here:
            raise ValueError(
                f"{FILE}, {row.facts}: must stand among the rows of {row.topic}; "
                f"the topics come in the order {', '.join(topics)}"
            )
    return tuple(rows)


def _row(
    number: int, item: Any, concepts: Mapping[str, Concept], topics: Sequence[str]
) -> Row:
    where = f"{FILE}, row {number}"
    if isinstance(item, dict) and item.get("facts"):
        where += f" ({item['facts']})"
    names: tuple[str, ...] = RELEASES
    if isinstance(item, dict):
        names += tuple(name for name in OTHERS if name in item)
    wanted = {"facts": records.ANY, "topic": records.ANY, **dict.fromkeys(names)}
    records.check(where, item, wanted)
    if item["facts"] not in concepts:
        raise ValueError(f"{where}: there is no docs/facts/{item['facts']}.yml")
    if item["topic"] not in topics:
        raise ValueError(f"{where}: topic must be one of {', '.join(topics)}")
    concept = concepts[item["facts"]]
    cells = {name: _cell(f"{where}, {name}", item[name], name) for name in names}
    for release, cell in cells.items():
        _check_places(f"{where}, {release}", cell, release, concept)
    kinds = [cell.kind for cell in cells.values()]
    if kinds[0] == NONE and SAME in kinds:
        raise ValueError(f"{where}: same as nothing; write none: with its reason")
    return Row(item["facts"], item["topic"], tuple(cells.items()))


def _cell(where: str, value: Any, release: str) -> Cell:
    first = release == RELEASES[0]
    if value == SAME and not first:
        return Cell(SAME)
    none = isinstance(value, dict) and set(value) == {NONE}
    words = value[NONE] if none else value
    if not isinstance(words, dict):
        raise ValueError(
            f"{where}: must be {{zh: ..., en: ...}}, {{none: {{zh: ..., en: ...}}}}"
            + ("" if first else f" or {SAME}")
            + f", got {value!r}"
        )
    records.check(where, words, WORDS)
    records.check_words(where, words, ("zh", "en"))
    kind = NONE if none else FIRST if first else DIFFERS
    return Cell(kind, words["zh"], words["en"])


def _check_places(where: str, cell: Cell, release: str, concept: Concept) -> None:
    places = [entry for entry in concept.entries if entry.release == release]
    if cell.kind == NONE and places:
        raise ValueError(
            f"{where}: none, yet {concept.name} has {places[0].place}; "
            "say what it does, or take that entry out"
        )
    if cell.kind != NONE and not places:
        raise ValueError(
            f"{where}: {concept.name} has no entry of it; add the place that says so"
        )
    for number in PLACE.findall(cell.zh + cell.en):
        if not 1 <= int(number) <= len(places):
            raise ValueError(
                f"{where}: {{{number}}} must be one of the {len(places)} places that "
                f"{concept.name} has of it"
            )
