"""The 48 corrections of the dialogues: each has its place, in both languages."""

from pathlib import Path

import pytest
import yaml

from site_tools.page.page import read_page
from site_tools.page.prose import HEADING

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("corrections.yml")
CORRECTIONS = yaml.safe_load(FILE.read_text("utf-8"))
HELD = [(row["id"], place) for row in CORRECTIONS for place in row["held"]]


def test_every_correction_is_listed_once_and_has_a_place() -> None:
    assert [row["id"] for row in CORRECTIONS] == list(range(1, 49))
    assert all(row.keys() == {"id", "about", "held"} for row in CORRECTIONS)
    assert all(row["held"] for row in CORRECTIONS)


@pytest.mark.parametrize(("number", "place"), HELD)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_correction_is_where_it_is_said_to_be(
    number: int, place: str, lang: str
) -> None:
    name, _, anchor = place.partition("#")
    body = read_page(ROOT, f"docs/{lang}/{name}.md").body
    anchors = {heading["id"] for heading in HEADING.finditer(body)}
    assert anchor in anchors, f"correction {number}: no #{anchor} on {name}"
