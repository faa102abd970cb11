"""Every place of the data files, read again from the published wheels."""

from pathlib import Path

import pytest

from site_tools.checks.facts_in_wheels import WHEELS, reread
from site_tools.data import code_map
from site_tools.data.facts import Concept, Entry, parse, render

DOCS = Path(__file__).parents[2] / "docs"
MAP = code_map.parse((DOCS / "code_map.yml").read_text(encoding="utf-8"))
ENTRIES = [
    entry
    for path in sorted((DOCS / "facts").iterdir())
    for entry in parse(path.read_text(encoding="utf-8"), path.name).entries
] + code_map.places(MAP)
PUBLISHED = [entry for entry in ENTRIES if "@" not in entry.release]
COMMITTED = [entry for entry in ENTRIES if "@" in entry.release]


@pytest.mark.parametrize("entry", PUBLISHED, ids=lambda entry: entry.place)
def test_a_fact_is_what_its_wheel_says(entry: Entry) -> None:
    problems = reread(entry, DOCS.parent / WHEELS)
    if problems is None:
        pytest.skip(f"no wheel of {entry.release}; `make peers` brings it")
    assert problems == [], f"{entry.place}: {'; '.join(problems)}"


@pytest.mark.parametrize("entry", COMMITTED, ids=lambda entry: entry.place)
def test_a_commit_in_no_wheel_is_checked_for_form_only(entry: Entry) -> None:
    assert entry.place in render(Concept("any", (entry,)), entry.release)


def test_there_are_facts_of_both_kinds() -> None:
    assert PUBLISHED
    assert COMMITTED
