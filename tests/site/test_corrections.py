"""The 48 corrections of the dialogues: each has its place, or says what it awaits."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from site_tools.indexes import sources
from site_tools.source.page import read_page
from site_tools.source.prose import HEADING

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("corrections.yml")
CORRECTIONS = yaml.safe_load(FILE.read_text("utf-8"))
HELD = [(row["id"], place) for row in CORRECTIONS for place in row.get("held", ())]


def test_every_correction_is_listed_once_and_has_a_place() -> None:
    assert [row["id"] for row in CORRECTIONS] == list(range(1, 49))
    assert all(row.get("held") or row.get("coming") for row in CORRECTIONS)


@pytest.mark.parametrize(("number", "place"), HELD)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_correction_is_where_it_is_said_to_be(
    number: int, place: str, lang: str
) -> None:
    name, _, anchor = place.partition("#")
    body = read_page(ROOT, f"docs/{lang}/{name}.md").body
    anchors = {heading["id"] for heading in HEADING.finditer(body)}
    assert anchor in anchors, f"correction {number}: no #{anchor} on {name}"


def test_what_is_coming_is_a_page_that_a_question_waits_for() -> None:
    homes = {q.page for d in sources.dialogues(ROOT) for q in d.questions}
    waiting: list[dict[str, Any]] = [row for row in CORRECTIONS if "coming" in row]
    for row in waiting:
        name = row["coming"]
        assert name in homes, row
        assert not (ROOT / f"docs/zh/{name}.md").exists(), f"{name} is there: {row}"
