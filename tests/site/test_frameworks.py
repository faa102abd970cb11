"""What releases do and did: every row stands on places, and says what it may say."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from site_tools.data import frameworks
from site_tools.data.facts import Concept, Entry
from site_tools.data.frameworks import OTHERS, RELEASES, Change, Compared, Renamed
from site_tools.site import lists, sources
from tests.site.rows import as_yaml

pytestmark = pytest.mark.pages

ROOT = Path(__file__).parents[2]
NOW, OLD, OPEN, TRL = RELEASES
ANSWER = sources.Answer("gae/b", "Is A < B?", "", "", (), (), (), ("mask",))


def entry(release: str, quote: str = "a < b", digest: str = "0") -> Entry:
    return Entry(release, "a/b.py", "3", digest * 12, quote=quote)


MASK = Concept(
    "甲",
    "The `mask`",
    (
        entry(NOW),
        entry(OLD),
        entry(OPEN),
        entry(OPEN, "default=2"),
        entry("verl 0.5.0", digest="1"),
        entry("verl 0.4.1"),
        entry("verl 0.4.0"),
    ),
    file="mask.yml",
)
LOSS = Concept("乙", "The loss", (entry(NOW), entry(TRL)), file="loss.yml")
CONCEPTS = {"mask": MASK, "loss": LOSS}
SAID = {"zh": "跳过", "en": "it is skipped"}
NOTHING = {"kind": "none", "zh": "没有", "en": "it has no tools"}
CELLS: dict[str, Any] = {
    NOW: SAID,
    OLD: "same",
    OPEN: {"zh": "乘 {2}", "en": "times {2}"},
    TRL: NOTHING,
}
CHANGE = {
    "release": "verl 0.5.0",
    "before": "verl 0.4.1",
    "facts": "mask",
    "zh": "跳过",
    "en": "It `skips`",
    "zh_why": "变了",
    "en_why": "Advantages change",
    "page": "gae/b",
}
PLACE = {
    "release": NOW,
    "path": "a/b.py",
    "lines": "3",
    "hash": "0" * 12,
    "quote": "a < b",
}
REASON = {"zh": "没有了", "en": "it is gone"}
RENAMED: dict[str, Any] = {
    "names": ["b.py:3", "run"],
    "then": PLACE,
    "now": REASON,
    "zh": "跑",
    "en": "Runs `it`",
    "page": "gae/b",
}


def row(facts: str = "mask", topic: str = "gae", **cells: Any) -> dict[str, Any]:
    names = {"now": NOW, "old": OLD, "open": OPEN, "trl": TRL}
    changed = {names.get(name, name): value for name, value in cells.items()}
    return {"facts": facts, "topic": topic, "releases": CELLS | changed}


def compared(*rows: Any, known: dict[str, Concept] = CONCEPTS) -> tuple[Compared, ...]:
    return frameworks.parse_comparison(as_yaml([*rows]), known)


def changes(*rows: Any) -> tuple[Change, ...]:
    return frameworks.parse_timeline(as_yaml([*rows]), CONCEPTS)


def renamed(*rows: Any) -> tuple[Renamed, ...]:
    return frameworks.parse_code_map(as_yaml([*rows]))


def test_the_lists_of_the_site_cover_every_topic_and_lead_to_pages() -> None:
    rows = frameworks.comparison(ROOT)
    assert {row.topic for row in rows} == set(sources.QUESTION_TOPICS)
    kinds = [cell.kind for row in rows for cell in row.releases.values()]
    assert len(rows) > 30
    assert min(map(kinds.count, ("same", "differs", "none"))) > 5
    homes = {q.page for d in sources.dialogues(ROOT) for q in d.questions}
    homes |= {answer.page for answer in sources.users(ROOT, "zh")}
    listed = [*frameworks.timeline(ROOT), *frameworks.code_map(ROOT)]
    assert [each.page for each in listed if each.page not in homes] == []
    now = [p for each in frameworks.code_map(ROOT) for p in each.places if p.checked]
    assert len(now) > 35 and {place.release for place in now} == {"verl 0.9.1"}


def test_a_card_says_what_is_the_same_and_leads_to_every_place() -> None:
    html = lists.compared(compared(row()), [MASK, LOSS], "en", [ANSWER])
    assert '<div class="compared" id="compared-mask">' in html
    assert "<h4>The <code>mask</code></h4>" in html
    first, differs, none, same = re.findall(
        r'<div class="(?:fi|di|no|sa).*?</div>', html
    )
    assert '<a href="#mask-verl-0-9-1">verl 0.9.1</a></dt><dd>it is skipped' in first
    assert '<span class="sign">differs: </span>times <code>default=2</code>' in differs
    assert '<dt>TRL 1.12.0</dt><dd><span class="sign">none: </span>it has no' in none
    assert same == (
        '<div class="same"><dt><a href="#mask-verl-0-3-0-post1">verl 0.3.0.post1</a>'
        "</dt><dd>same</dd></div>"
    )
    assert 'Discussed in: <a href="/gae/b/#in-verl">Is A &lt; B?</a>' in html
    elsewhere = ANSWER._replace(page="critic/c")
    assert "Discussed" not in lists.compared(compared(row()), [MASK], "en", [elsewhere])


def test_releases_that_are_the_same_share_a_line() -> None:
    html = lists.compared(compared(row(open="same")), [MASK], "zh", [])
    (same,) = re.findall(r'<div class="same">.*?</div>', html)
    assert same.count("<dt>") == 2 and same.endswith("<dd>相同</dd></div>")
    assert "细说" not in html


def test_a_release_of_environments_stands_only_in_the_rows_that_name_it() -> None:
    torchrl, _ = OTHERS
    known = {"mask": replace(MASK, entries=(*MASK.entries, entry(torchrl)))}
    (one,) = compared(row(**{torchrl: "same"}), known=known)
    html = lists.compared((one,), [known["mask"]], "en", [])
    assert f'<a href="#mask-torchrl-0-14-1">{torchrl}</a>' in html
    assert torchrl not in lists.compared(compared(row()), [MASK, LOSS], "en", [])


def test_a_change_says_what_why_and_leads_to_both_sides() -> None:
    html = lists.changes(changes(CHANGE), "en", [ANSWER])
    assert '<li><h3 id="since-verl-0-5-0">verl 0.5.0</h3>' in html
    assert '<p class="claim">It <code>skips</code></p><p>Advantages change</p>' in html
    assert '<a href="#mask-verl-0-4-1">before verl 0.4.1</a>' in html
    assert '<a href="#mask-verl-0-5-0">after verl 0.5.0</a>' in html
    assert '<a href="/gae/b/">Is A &lt; B?</a>' in html
    html = lists.changes(changes(CHANGE, CHANGE), "zh", [])
    assert "gae/b" not in html
    assert html.count("<h3") == 1 and html.count("改前 verl 0.4.1") == 2


def test_a_card_of_the_code_map_names_both_places_or_why_there_is_none() -> None:
    html = lists.renamed(renamed(RENAMED), "en", [ANSWER])
    assert '<div class="compared" id="b-py-3">' in html
    assert "<h2><code>b.py:3</code>, <code>run</code></h2>" in html
    assert "<p>Runs <code>it</code></p>" in html
    assert "<dd>a/b.py:3 <code>a &lt; b</code></dd>" in html
    assert '<div class="none"><dt>verl 0.9.1</dt><dd>it is gone</dd></div>' in html
    assert '<a href="/gae/b/">Is A &lt; B?</a>' in html
    assert "href" not in lists.renamed(renamed(RENAMED), "zh", [])


OTHER = row("loss", "critic", old=NOTHING, open=NOTHING, trl="same")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("maks")], "comparison.yml:1: there is no docs/facts/maks.yml"),
        ([row(now="same")], "verl 0.9.1 is the release that same refers to; write zh"),
        ([row(old={"zh": "甲"})], "write same alone, or zh and en, with kind: none"),
        ([row(trl=SAID)], "mask.yml has no entry of TRL 1.12.0; add the place"),
        ([row(old=NOTHING)], "none, yet mask.yml has verl 0.3.0.post1 · a"),
        ([row(open=SAID | {"zh": "{3}"})], "{3} must be one of the 2 places that"),
        ([row(), row()], "facts says mask, as the row at line"),
        ([row(**{"TorchRL 1": "same"})], "got verl 0.9.1, verl 0.3.0.post1, Open"),
        ([row() | {"releases": {NOW: SAID}}], "got verl 0.9.1"),
    ],
)
def test_a_row_that_cannot_be_true_is_refused(rows: list[Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        compared(*rows)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"facts": "maks"}, "there is no docs/facts/maks.yml"),
        (
            {"before": "verl 0.3.0"},
            "mask.yml has no entry of verl 0.3.0; add the place",
        ),
        (
            {"before": "verl 0.4.0", "release": "verl 0.4.1"},
            "mask.yml has the same lines of verl 0.4.0 and verl 0.4.1; add to one of",
        ),
        ({"before": "verl 0.10.0"}, "before must be older than verl 0.5.0, got verl"),
    ],
)
def test_a_change_that_nothing_shows_is_refused(
    change: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError) as refusal:
        changes(CHANGE | change)
    assert message in str(refusal.value)


def test_rows_come_by_topic_and_changes_by_release() -> None:
    assert [each.topic for each in compared(OTHER, row())] == ["gae", "critic"]
    newer = CHANGE | {"release": NOW, "before": "verl 0.4.1"}
    mask = replace(MASK, entries=(*MASK.entries[1:], entry(NOW, digest="2")))
    both = frameworks.parse_timeline(as_yaml([newer, CHANGE]), {"mask": mask})
    assert [change.release for change in both] == ["verl 0.5.0", NOW]


def test_a_name_stands_in_one_row_of_the_code_map() -> None:
    with pytest.raises(ValueError, match=r"names says b\.py:3, as the row at line 1"):
        renamed(RENAMED, RENAMED)


@pytest.mark.parametrize("part", ["compared", "timeline", "places", "code map"])
def test_a_fence_of_the_page_is_made_in_both_languages(part: str) -> None:
    zh, en = (lists.derived("frameworks", part, c, ROOT) for c in ("zh", "en"))
    boxes = re.compile(r'<(?:div|li|d[ltd]|h\d|details)\b[^>]*| href="#[^"]*"')
    assert zh != en and boxes.findall(zh) == boxes.findall(en)


def test_every_place_that_a_list_leads_to_is_on_its_page() -> None:
    places = set(re.findall(r'id="([^"]+)"', lists.frameworks("places", "en", ROOT)))
    for part in ("compared", "timeline"):
        html = lists.derived("frameworks", part, "en", ROOT)
        targets = set(re.findall(r'href="#([^"]+)"', html))
        own = set(re.findall(r'id="([^"]+)"', html))
        assert targets - own and targets <= places | own
