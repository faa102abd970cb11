"""What changed in verl: each change lies between two releases that differ."""

from pathlib import Path
from typing import Any

import pytest

from site_tools.data.facts import Concept, Entry
from site_tools.data.timeline import Change, parse
from site_tools.indexes import releases, sources
from site_tools.indexes.timeline import timeline
from tests.site.rows import as_yaml

ROOT = Path(__file__).parents[2]
ROW = {
    "release": "verl 0.5.0",
    "before": "verl 0.4.1",
    "facts": "mask",
    "zh": "跳过",
    "en": "It `skips`",
    "zh_why": "变了",
    "en_why": "Advantages change",
    "page": "gae/b",
}


def entry(release: str, digest: str) -> Entry:
    return Entry(release, "a/b.py", "3", digest * 12, quote="a")


MASK = Concept(
    "mask.yml",
    (entry("verl 0.5.0", "1"), entry("verl 0.4.1", "0"), entry("verl 0.4.0", "0")),
)
ANSWER = sources.Answer("gae/b", "Is A < B?", "", "", (), (), (), ())


def parsed(*rows: dict[str, Any]) -> tuple[Change, ...]:
    return parse(as_yaml(list(rows)), {"mask": MASK})


def test_the_changes_of_the_site_lead_to_pages_that_are_there_or_planned() -> None:
    changes = releases.timeline(ROOT)
    homes = {q.page for d in sources.dialogues(ROOT) for q in d.questions}
    homes |= {answer.page for answer in sources.users(ROOT, "zh")}
    assert len(changes) > 10
    assert [c.page for c in changes if c.page not in homes] == []


def test_a_change_says_what_why_and_leads_to_both_sides() -> None:
    html = timeline(parsed(ROW), [MASK], [ANSWER], "en")
    assert '<li><h3 id="since-verl-0-5-0">verl 0.5.0</h3>' in html
    assert '<p class="claim">It <code>skips</code></p><p>Advantages change</p>' in html
    assert '<a href="#mask-verl-0-4-1">before verl 0.4.1</a>' in html
    assert '<a href="#mask-verl-0-5-0">after verl 0.5.0</a>' in html
    assert '<a href="/gae/b/">Is A &lt; B?</a>' in html
    assert "gae/b" not in timeline(parsed(ROW), [MASK], [], "zh")


def test_changes_of_one_release_share_its_heading() -> None:
    html = timeline(parsed(ROW, ROW), [MASK], [], "zh")
    assert html.count("<h3") == 1 and html.count("改前 verl 0.4.1") == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"facts": "maks"}, "change 1 (maks): there is no docs/facts/maks.yml"),
        (
            {"before": "verl 0.3.0"},
            "mask.yml has no entry of verl 0.3.0; add the place",
        ),
        (
            {"before": "verl 0.4.0", "release": "verl 0.4.1"},
            "mask.yml has the same lines of verl 0.4.0 and verl 0.4.1; add to one of",
        ),
        (
            {"before": "verl 0.5.0"},
            "before must be older than verl 0.5.0, got verl 0.5",
        ),
        ({"before": "verl 0.10.0"}, "before must be older than verl 0.5.0, got verl"),
        (
            {"release": "0.5.0"},
            "release must be a release like verl 0.5.0, got '0.5.0'",
        ),
        ({"page": "gae"}, "page must be a page id like gae/inputs, got 'gae'"),
        ({"en_why": "by 12.5%"}, "en_why must hold no figure, got 12.5%"),
        (
            {"date": "2025"},
            "date does not belong here; write before, en, en_why, facts",
        ),
    ],
)
def test_a_change_that_nothing_shows_is_refused(
    change: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError) as refusal:
        parsed(ROW | change)
    assert str(refusal.value).startswith("timeline.yml, change 1 (")
    assert message in str(refusal.value)


def test_the_oldest_change_comes_first() -> None:
    newer = {"release": "verl 0.10.0", "before": "verl 0.4.1"}
    ten = MASK._replace(entries=(*MASK.entries, entry("verl 0.10.0", "2")))
    text = as_yaml([ROW | newer, ROW])
    with pytest.raises(
        ValueError, match=r"verl 0\.5\.0 \(mask\) must stand before verl"
    ):
        parse(text, {"mask": ten})
    with pytest.raises(ValueError, match="must be a list of changes"):
        parse("a: b\n", {"mask": ten})
