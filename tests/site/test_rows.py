"""Data files are read strictly: each fault is named by file, line and remedy."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from site_tools.data import dialogues, facts, frameworks, names
from site_tools.data.rows import PageId, Preset, Row, Text, Words, figure_in, read_rows

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Inner(Row):
    zh: Words
    en: Words


@dataclass(frozen=True)
class Outer(Row):
    id: Text
    page: PageId = ""
    several: tuple[Words, ...] = ()
    inner: Inner | None = None
    cells: dict[str, Inner] | None = None


def read(text: str) -> tuple[Outer, ...]:
    return read_rows(text, "a.yml", Outer)


def test_a_row_is_read_with_its_line() -> None:
    first, second = read("- id: a\n- id: 012\n  several: [b, c]\n  page: gae/inputs\n")
    assert second == Outer("012", "gae/inputs", ("b", "c"))
    assert (first.line, second.line) == (1, 2)
    (row,) = read(
        "- id: a\n  inner: {zh: 甲, en: A}\n  cells:\n    x 1: {zh: 乙, en: B}"
    )
    assert row.inner == Inner("甲", "A") and row.cells == {"x 1": Inner("乙", "B")}
    assert row.cells["x 1"].line == 4


FAULTS = {
    "- id: a\n  ib: b\n": "a.yml:2: ib does not belong here; the fields are id, page",
    "- page: gae/inputs\n": "a.yml:1: id is missing; the fields are id, page, several",
    "- id: a\n\n- id: b\n  id: c\n": "a.yml:4: the key id stands twice",
    "- id: a\n- [id, a]\n": "a.yml:2: must have the fields id, page, several",
    "id: a\n": "a.yml:1: must be a list of rows, as in '- id: ...'",
    "": "a.yml:1: must be a list of rows",
    "- id: ''\n": "a.yml:1: id must be text on one line, got ''",
    "- id: [a]\n": "a.yml:1: id must be text on one line, got '[...]'",
    "- id: a\n  page: gae\n": (
        "a.yml:2: page must be a page id like gae/inputs, got 'gae'"
    ),
    "- id: a\n  several: b\n": "a.yml:2: several must be a list, not empty",
    "- id: a\n  several: []\n": "a.yml:2: several must be a list, not empty",
    "- id: a\n  several: [b, 0.5]": "a.yml:2: several must hold no figure, got 0.5",
    "- id: a\n  inner: {zh: 甲}\n": "a.yml:2: en is missing; the fields are zh, en",
    "- id: a\n  cells: b\n": "a.yml:2: cells must be a mapping",
    "- id: a: b\n": 'a.yml:1: must be YAML, quote: "in marks"; mapping values',
    "- id: &x a\n- id: *x\n": "a.yml:2: the alias *x; write the text out",
    "- id: !!python/name:os.system a": "a.yml:1: the tag tag:yaml.org,2002:python/name",
    f"- id: {'[' * 30}{']' * 30}": "a.yml:1: lists and mappings over 20 deep",
    "- ? [a]\n  : b\n": "a.yml:1: a key that is not a word",
    "- id: " + "x" * 1_000_000: "a.yml:1: over 1,000,000 characters of YAML",
}


@pytest.mark.parametrize(
    "text", FAULTS, ids=[message[:60] for message in FAULTS.values()]
)
def test_a_fault_is_named_with_its_line(text: str) -> None:
    with pytest.raises(ValueError) as refusal:
        read(text)
    assert str(refusal.value).startswith(FAULTS[text])


def test_one_of_two_kinds_is_whichever_fits_the_keys() -> None:
    @dataclass(frozen=True)
    class Either(Row):
        value: facts.Entry | Inner

    kinds = frameworks.Renamed.__annotations__
    assert kinds["then"].__args__[0].__metadata__ == (
        Preset("release", frameworks.THEN),
    )
    (row,) = read_rows("- value: {zh: 甲, en: A}", "a.yml", Either)
    assert row.value == Inner("甲", "A")
    with pytest.raises(ValueError, match="path is missing; the fields are release, pa"):
        read_rows("- value: {release: verl 1.0, lines: 3}", "a.yml", Either)


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("长度（0.5）", "0.5"),
        ("百分之五", "百分之五"),
        ("99% reward", "99%"),
        ("It is 1/2.", "1/2"),
        (r"It is $99.5\%$.", "99.5%"),
        (r"It is $99\,\%$.", "99%"),
        ("是 $0{.}5$。", "0.5"),
        (r"是 $0\mathord{.}5$。", "0.5"),
        ("是 $0 . 5$。", "0.5"),
        ("是 0$.$5。", "0.5"),
        ("是 $10^{-3}$。", "10^-3"),
        (r"是 $5 \times 10^{-3}$。", "5×10^-3"),
        ("是 $1e-3$。", "1e-3"),
        (r"第 $t$ 个，$\lambda=1$，从 0 数起。", None),
        ("At $s_{t+1}$ and $2^{10}$ of them; 1 is all, 1+1=2.", None),
    ],
)
def test_a_figure_in_a_text_is_found_however_it_is_spelled(
    text: str, figure: str | None
) -> None:
    assert figure_in(text) == figure


def test_every_data_file_of_the_project_can_be_read() -> None:
    assert len(facts.concepts(ROOT)) > 80
    assert "state" in {name.id for name in names.read_names(ROOT)}
    assert tuple(dialogues.read_topics(ROOT)) == dialogues.TOPICS
    assert len(frameworks.timeline(ROOT)) > 10
