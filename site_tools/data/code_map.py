"""The code that the dialogues name: where it stood in their copy, where it stands now.

A file of YAML, ``docs/code_map.yml``, a row a piece of code:

    - names: ["core_algos.py:99", nextvalues]  # as the dialogues write it
      then: {path: ..., lines: 99, hash: ..., quote: ...}    # in Search-R1, see THEN
      now: {path: ..., lines: 245, hash: ..., quote: ...}    # in the wheel, see NOW
      zh: 一句话
      en: a sentence
      page: bootstrap/reach

Where a piece is not in one of the two, a mapping ``{zh: ..., en: ...}`` says why.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from site_tools.data import records
from site_tools.data.facts import FORMS, Entry

FILE = "code_map.yml"
THEN = "PeterGriffinJin/Search-R1@a14dc3a"
NOW = "verl 0.9.1"
WORDS = {"zh": records.ANY, "en": records.ANY}
FIELDS = {"names": None, "then": None, "now": None, **WORDS, "page": records.PAGE}


class Reason(NamedTuple):
    """Why there is no such place."""

    zh: str
    en: str


class Row(NamedTuple):
    """One piece of code: its names in the dialogues, then and now."""

    names: tuple[str, ...]
    then: Entry | Reason
    now: Entry | Reason
    zh: str
    en: str
    page: str


def parse(text: str) -> tuple[Row, ...]:
    """Read ``docs/code_map.yml``.

    Raises:
        ValueError: naming the row, the field, and what to write instead.
    """
    items = records.load(text, FILE)
    if not isinstance(items, list):
        raise ValueError(f"{FILE}: must be a list of rows '- names: [...]'")
    rows = tuple(_row(f"{FILE}, row {n}", item) for n, item in enumerate(items, 1))
    names = [name for row in rows for name in row.names]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{FILE}: {name} is in two rows; leave it in one")
    return rows


def places(rows: Sequence[Row]) -> list[Entry]:
    """Every place of the map, as facts have them."""
    both = [place for row in rows for place in (row.then, row.now)]
    return [place for place in both if isinstance(place, Entry)]


def _row(where: str, item: Any) -> Row:
    names = item.get("names") if isinstance(item, dict) else None
    if isinstance(names, list) and names and all(isinstance(n, str) for n in names):
        where += f" ({names[0]})"
    elif isinstance(item, dict) and "names" in item:
        raise ValueError(f"{where}: names must be a list of names, got {names!r}")
    records.check(where, item, FIELDS)
    records.check_words(where, item, ("zh", "en"))
    then = _place(f"{where}, then", item["then"], THEN)
    now = _place(f"{where}, now", item["now"], NOW)
    return Row(tuple(names or ()), then, now, item["zh"], item["en"], item["page"])


def _place(where: str, value: Any, release: str) -> Entry | Reason:
    fields = value if isinstance(value, dict) else {}
    if fields.keys() <= WORDS.keys() and fields:
        records.check(where, value, WORDS)
        records.check_words(where, value, ("zh", "en"))
        return Reason(**value)
    kind = ("key", "default") if "key" in fields else ("quote",)
    wanted = ("path", "lines", "hash", *kind)
    records.check(where, value, {field: FORMS[field] for field in wanted})
    return Entry(release, **value)
