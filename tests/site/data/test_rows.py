"""Data files are read strictly: each fault is named by file, line and remedy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from site_tools.compile.templates import fill
from site_tools.data import names
from site_tools.data.rows import OneLine, PageId, Row, Words, figure_in, parse_rows
from tests.layout import ROOT
from tests.site.rows import as_yaml
from tests.site.trial_site import write_files


@dataclass(frozen=True)
class Inner(Row):
    zh: Words
    en: Words


@dataclass(frozen=True)
class Place(Row):
    path: OneLine
    line_number: OneLine


@dataclass(frozen=True)
class Outer(Row):
    id: OneLine
    page: PageId = ""
    several: tuple[Words, ...] = ()
    place: Place | None = None


@dataclass(frozen=True)
class Table(Row):
    cells: dict[str, Inner]


def read(text: str) -> tuple[Outer, ...]:
    return parse_rows(text, "a.yml", Outer)


def test_a_row_is_read_with_its_line():
    first, second = read("- id: a\n- id: 012\n  several: [b, c]\n  page: gae/inputs\n")
    assert second == Outer("012", "gae/inputs", ("b", "c"))
    assert (first.line, second.line) == (1, 2)
    (row,) = read("- id: a\n  place: {path: b, line_number: 3}")
    assert row.place == Place("b", "3")


def test_a_mapping_may_have_any_keys():
    (row,) = parse_rows("- cells:\n    x 1: {zh: 乙, en: B}", "a.yml", Table)
    assert row.cells == {"x 1": Inner("乙", "B")} and row.cells["x 1"].line == 2
    with pytest.raises(ValueError, match=r"a\.yml:1: cells must be a mapping"):
        parse_rows("- cells: b", "a.yml", Table)


FAULTS = {
    "- id: a\n  ib: b\n": "a.yml:2: ib does not belong here; the fields are id, page",
    "- page: gae/inputs\n": "a.yml:1: id is missing; the fields are id, page, several",
    "- id: a\n\n- id: b\n  id: c\n": "a.yml:4: the key id is there twice",
    "- id: a\n- [id, a]\n": "a.yml:2: must have the fields id, page, several",
    "id: a\n": "a.yml:1: must be a list of rows, as in '- id: ...'",
    "": "a.yml:1: must be a list of rows",
    "- id: [a]\n": "a.yml:1: id must be text on one line, got '[...]'",
    "- id: a\n  page: gae\n": (
        "a.yml:2: page must be a page id like gae/inputs, got 'gae'"
    ),
    "- id: a\n  several: []\n": "a.yml:2: several must be a list, not empty",
    "- id: a\n  several: [b, 0.5]": "a.yml:2: several must hold no figure, got 0.5",
    "- id: a\n  place: {path: b}\n": "a.yml:2: line_number is missing; the fields are",
    "- id: a: b\n": 'a.yml:1: must be YAML, quote: "in quotation marks"; a colon',
    "- id: &x a\n- id: *x\n": "a.yml:2: must be plain YAML: no alias, no tag",
    "- id: !!python/name:os.system a": "a.yml:1: must be plain YAML",
    f"- id: {'[' * 30}{']' * 30}": "a.yml:1: must be plain YAML",
    "- ? [a]\n  : b\n": "a.yml:1: a key that is not a word",
}


@pytest.mark.parametrize(
    "text", FAULTS, ids=[message[:60] for message in FAULTS.values()]
)
def test_a_fault_is_named_with_its_line(text):
    with pytest.raises(ValueError) as refusal:
        read(text)
    assert str(refusal.value).startswith(FAULTS[text])


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("长度（0.5）", "0.5"),
        (r"It is $99\,\%$.", "99%"),
        (r"是 $0\mathord{.}5$。", "0.5"),
        ("是 $10^{-3}$。", "10^-3"),
        (r"第 $t$ 个，$\lambda=1$，从 0 数起。", None),
        ("At $s_{t+1}$ and $2^{10}$ of them; 1 is all, 1+1=2.", None),
    ],
)
def test_a_figure_in_a_text_is_found_however_it_is_spelled(text, figure):
    assert figure_in(text) == figure


NAME = {
    "id": "a",
    "zh": "甲",
    "en": "a",
    "symbol": "A_t",
    "code": "values[:, -T-1:-1]",
    "shape": "[batch, time]",
    "unit_zh": "奖励",
    "unit_en": "reward",
    "meaning_zh": r"第 $t$ 个，$\lambda=1$。",
    "meaning_en": r"At $s_{t+1}$.",
    "where": "gae/inputs#why",
}
WHY = {"choice_zh": "离线是另一回事。", "choice_en": "Offline is another thing."}


def read_names(root: Path, *rows: dict[str, Any]) -> tuple[names.Name, ...]:
    write_files(root, {names.NAMES_FILE: as_yaml([*rows])})
    return names.read_names(root)


def test_a_word_that_pages_do_not_use_has_its_reason(tmp_path):
    with pytest.raises(ValueError, match="choice_zh and choice_en must say why a is"):
        read_names(tmp_path, NAME | {"not_zh": ["甲甲"], "choice_zh": "有理由。"})


@pytest.mark.parametrize(
    ("lang", "terms"),
    [
        ("zh", ["GAE", "prompt", "白化", "策略", "优势"]),  # bai, ce, you
        ("en", ["advantage", "EOS", "policy", "whitening"]),
    ],
)
def test_terms_stand_in_the_order_of_letters(lang, terms):
    found = [names.Name(term, term, term, "", "") for term in reversed(terms)]
    order = sorted(found, key=lambda name: name.place(lang))
    assert [name.id for name in order] == terms


@pytest.mark.pages
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_what_explains_a_term_is_there(lang):
    for page, _, anchor in (
        name.where.partition("#") for name in names.read_names(ROOT)
    ):
        text = page and (ROOT / f"docs/{lang}/{page}.md").read_text("utf-8")
        assert not anchor or f"{{ #{anchor} " in text, f"{page}#{anchor}"


def test_glossary_and_notation_are_in_one_language(tmp_path):
    rows = read_names(tmp_path, NAME, NAME | {"id": "b", "not_zh": ["甲甲"]} | WHY)
    titles = {"gae/inputs": "Inputs"}
    zh, en = (
        fill("lists.glossary", *at, titles)
        for at in (("zh", rows, "en"), ("en", rows, "zh"))
    )
    assert '<dt id="b">a <span class="detail" lang="zh">甲</span></dt>' in en
    # why a word is not used is for who writes it, not for readers
    assert "也叫：甲甲。" in zh and "离线" not in zh and "Offline" not in en
    assert '<a href="/gae/inputs/#why">Inputs</a>' in en
    assert (
        '<code>values[:, -T-1:-1]</code> <span class="detail">[batch, time] · reward'
        in fill("lists.notation", "en", rows)
    )
