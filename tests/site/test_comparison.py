"""What releases do: every cell stands on a place, and says what it may say."""

import re
from pathlib import Path
from typing import Any

import pytest

from site_tools.data.comparison import OTHERS, RELEASES, Row, parse
from site_tools.data.facts import Concept, Entry
from site_tools.indexes import fences, releases, sources
from site_tools.indexes.comparison import comparison
from tests.site.rows import as_yaml

ROOT = Path(__file__).parents[2]
TOPICS = ("gae", "critic")
NOW, OLD, OPEN, TRL = RELEASES
ANSWER = sources.Answer("gae/b", "Is A < B?", "", "", (), (), (), ("mask",))


def entry(release: str, quote: str = "a < b") -> Entry:
    return Entry(release, "a/b.py", "3", "0" * 12, quote=quote)


MASK = Concept(
    "mask.yml",
    (entry(NOW), entry(OLD), entry(OPEN), entry(OPEN, "default=2")),
    "甲",
    "The `mask`",
)
LOSS = Concept("loss.yml", (entry(NOW), entry(TRL)), "乙", "The loss")
CONCEPTS = {"mask": MASK, "loss": LOSS}
SAID = {"zh": "跳过", "en": "it is skipped"}
ROW: dict[str, Any] = {
    "facts": "mask",
    "topic": "gae",
    NOW: SAID,
    OLD: "same",
    OPEN: {"zh": "乘 {2}", "en": "times {2}"},
    TRL: {"none": {"zh": "没有", "en": "it has no tools"}},
}


def parsed(*rows: dict[str, Any]) -> tuple[Row, ...]:
    return parse(as_yaml(list(rows)), CONCEPTS, TOPICS)


def changed(**cells: Any) -> dict[str, Any]:
    names = {"now": NOW, "old": OLD, "open": OPEN, "trl": TRL}
    return ROW | {names.get(name, name): value for name, value in cells.items()}


def test_the_rows_of_the_site_are_true_to_the_facts_and_cover_every_topic() -> None:
    rows = releases.comparison(ROOT)
    assert {row.topic for row in rows} == set(sources.QUESTION_TOPICS)
    assert len(rows) > 30
    kinds = [cell.kind for row in rows for _, cell in row.by_release]
    assert min(map(kinds.count, ("first", "same", "differs", "none"))) > 5


def test_a_card_says_what_is_the_same_and_leads_to_every_place() -> None:
    html = comparison(parsed(ROW), [MASK, LOSS], [ANSWER], "en")
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


def test_releases_that_are_the_same_share_a_line() -> None:
    html = comparison(parsed(changed(open="same")), [MASK], [], "zh")
    (same,) = re.findall(r'<div class="same">.*?</div>', html)
    assert same.count("<dt>") == 2 and same.endswith("<dd>相同</dd></div>")
    assert "细说" not in html


def test_a_release_of_environments_stands_only_in_the_rows_that_name_it() -> None:
    torchrl, _ = OTHERS
    concepts = {"mask": MASK._replace(entries=(*MASK.entries, entry(torchrl)))}
    (row,) = parse(as_yaml([ROW | {torchrl: "same"}]), concepts, TOPICS)
    assert [name for name, _ in row.by_release] == [*RELEASES, torchrl]
    html = comparison((row,), [concepts["mask"]], [], "en")
    assert f'<a href="#mask-torchrl-0-14-1">{torchrl}</a>' in html
    assert torchrl not in comparison(parsed(ROW), [MASK, LOSS], [], "en")
    with pytest.raises(ValueError, match=r"TorchRL 0\.14\.1: mask\.yml has no entry"):
        parsed(ROW | {torchrl: "same"})
    with pytest.raises(ValueError, match="TorchRL 1 does not belong here; write"):
        parsed(ROW | {"TorchRL 1": "same"})


def test_what_another_topic_discusses_is_not_led_to() -> None:
    elsewhere = ANSWER._replace(page="critic/c")
    assert "Discussed" not in comparison(parsed(ROW), [MASK], [elsewhere], "en")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([changed(facts="maks")], "row 1 (maks): there is no docs/facts/maks.yml"),
        ([changed(topic="gea")], "row 1 (mask): topic must be one of gae, critic"),
        ([changed(now="same")], "verl 0.9.1: must be {zh: ..., en: ...}, {none:"),
        ([changed(old="equal")], "verl 0.3.0.post1: must be {zh: ..., en: ...}"),
        ([changed(old={"zh": "甲"})], "verl 0.3.0.post1: en is missing; write en, zh"),
        ([changed(now=SAID | {"en": "it is 0.5"})], "en must hold no figure, got 0.5"),
        ([changed(trl="same")], "TRL 1.12.0: mask.yml has no entry of it; add the"),
        ([changed(trl=SAID)], "TRL 1.12.0: mask.yml has no entry of it; add the"),
        ([changed(old={"none": SAID})], "none, yet mask.yml has verl 0.3.0.post1 · a"),
        ([changed(open=SAID | {"zh": "{3}"})], "{3} must be one of the 2 places that"),
        ([changed(open=SAID | {"en": "{0}"})], "{0} must be one of the 2 places that"),
        ([ROW, ROW], "comparison.yml: mask has two rows; write one of them only"),
        (
            [
                changed(
                    facts="loss",
                    topic="critic",
                    old={"none": SAID},
                    open={"none": SAID},
                    trl="same",
                ),
                ROW,
            ],
            "comparison.yml, mask: must stand among the rows of gae; the topics come",
        ),
        ([{"facts": "mask"}], "comparison.yml, row 1 (mask): OpenRLHF 0.11.2 is miss"),
        (["mask"], "comparison.yml, row 1: must have the fields OpenRLHF 0.11.2, TRL"),
    ],
)
def test_a_row_that_cannot_be_true_is_refused(rows: list[Any], message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parsed(*rows)
    assert message in str(refusal.value)


def test_nothing_is_the_same_as_nothing() -> None:
    concept = {"mask": MASK._replace(entries=(entry(OLD),))}
    row = changed(now={"none": SAID}, open={"none": SAID})
    with pytest.raises(
        ValueError, match="same as nothing; write none: with its reason"
    ):
        parse(as_yaml([row]), concept, TOPICS)
    with pytest.raises(ValueError, match=r"must be a list of rows '- facts: gae_mask'"):
        parse("facts: mask\n", CONCEPTS, TOPICS)


@pytest.mark.parametrize("part", ["compared", "timeline", "places", "code map"])
def test_a_fence_of_the_page_is_made_in_both_languages(part: str) -> None:
    zh, en = (fences.frameworks(part, {"data-language": c}) for c in ("zh", "en"))
    boxes = re.compile(r'<(?:div|li|d[ltd]|h\d|details)\b[^>]*| href="#[^"]*"')
    assert zh != en and boxes.findall(zh) == boxes.findall(en)
    with pytest.raises(ValueError, match=r"frameworks: must be compared, .*got 'all'"):
        fences.frameworks("all", {"data-language": "en"})


def test_every_place_that_a_list_leads_to_is_on_its_page() -> None:
    english = {"data-language": "en"}
    places = fences.frameworks("places", english)
    found = set(re.findall(r'id="([^"]+)"', places))
    for part in ("compared", "timeline"):
        html = fences.frameworks(part, english)
        wanted = {a for a in re.findall(r'href="#([^"]+)"', html)}
        own = set(re.findall(r'id="([^"]+)"', html))
        assert wanted - own and wanted <= found | own
