"""What counts as words, the line that agrees on them, and the state that follows."""

from pathlib import Path

import pytest

from site_tools.page.twins import (
    Twins,
    TwinState,
    agreed_hash,
    check_agreed,
    state_of_twins,
    twins_of,
    with_both_agreed,
    words_hash,
)
from site_tools.page.wording import wording
from site_tools.source.files import page_ids
from tests.site import sample
from tests.site.sample import ROOT, broken
from tests.site.trial_site import write_files

pytestmark = pytest.mark.pages

AGREED = with_both_agreed({"zh": sample.ZH, "en": sample.EN}, "alignment/sample")
ZH, EN = AGREED["zh"], AGREED["en"]
TABLE = "| term | value |\n|------|-------|\n| sum  |"
NARROW = "|term|value|\n|:-|-|\n|sum|"


def test_the_words_of_a_page_are_in_its_sections():
    sections = ["(front-matter)", "answer", "code", "why", "wrong-answers", "next"]
    assert [*wording(EN)] == sections
    assert wording(ZH)["(front-matter)"] == "和 是 二 吗 ？ 一 加 一 是 几 ？"
    said = '## It is, and exactly **Yes.** The sum is `data-is="total"` , as $G-V$'
    assert wording(EN)["answer"] == f"{said} says. *verl's default*: the same."


LAYOUT = [
    ("The sum is `2.00`", "The\nsum is\n`2.00`"),
    (TABLE, NARROW),
    ("total = 1 + 1", "total = 2"),
    (r"\delta_t = r_t", r"\delta_t = R_t"),
    ("$G - V$", "$G-V$"),
    ("`2.00`{", "`2.0`{"),
    ("../reference/notation.md", "../reference/glossary.md"),
    ("## Why {", "<!-- todo -->\n\n## Why {"),
]


@pytest.mark.parametrize(("old", "new"), LAYOUT)
def test_what_is_not_words_is_no_state(old, new):
    assert state_of_twins(ZH, broken(old, new, EN)) is TwinState.IN_STEP


def test_another_way_to_ask_is_no_news_to_the_other_language():
    en = broken('"What is one and one?"', '"What is one and one?", "1 + 1?"', EN)
    assert state_of_twins(ZH, en) is TwinState.IN_STEP


WORDS = [
    ("the same.", "no different."),
    ("## One block", "## A block"),
    ("| sum  |", "| Sum |"),
    ("It is 2.5.", "It was 2.5."),
    ("Is two the sum?", "Is it two?"),
    ('"total" }, as', '"total + 0" }, as'),
    ("$G - V$", "$V - G$"),
    ("```python\n", '```python title="Sum"\n'),
]


@pytest.mark.parametrize(("old", "new"), WORDS)
def test_changed_words_are_news(old, new):
    assert state_of_twins(ZH, broken(old, new, EN)) is TwinState.EN_AHEAD


ZH_CHANGED = broken("一样", "也一样", ZH)
EN_CHANGED = broken("## Why {", "## The reason {", EN)
SAY = "say the same in docs"
STATES = [
    (None, EN, TwinState.MISSING_ZH, "no Chinese; write docs/zh/alignment/sample.md"),
    (ZH, None, TwinState.MISSING_EN, "no English; write docs/en/alignment/sample.md"),
    (ZH_CHANGED, EN, TwinState.ZH_AHEAD, f"Chinese ahead; {SAY}/en/"),
    (ZH, EN_CHANGED, TwinState.EN_AHEAD, f"English ahead; {SAY}/zh/"),
    (ZH_CHANGED, EN_CHANGED, TwinState.BOTH_CHANGED, "both changed; compare both"),
    (ZH, sample.EN, TwinState.UNRECORDED, "never recorded; compare both"),
    (sample.ZH, EN, TwinState.UNRECORDED, "never recorded; compare both"),
]


@pytest.mark.parametrize(("zh", "en", "expected", "told"), STATES)
def test_each_state_is_told_with_its_remedy(zh, en, expected, told):
    assert state_of_twins(zh, en) is expected
    text = str(Twins("alignment/sample", expected))
    assert text.startswith(f"alignment/sample: {told}")
    assert text.endswith(", then make agree PAGE=alignment/sample")


# printf 'T\n## Why One.' | sha256sum, and the same of the Chinese words
PAGE_ZH = "---\ntitle: T\nagreed: 3c58c9f4f0ad\n---\n\n## 为什么 { #why }\n\n一。\n"
PAGE_EN = "---\ntitle: T\nagreed: f8abc54be66e\n---\n\n## Why { #why }\n\nOne.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one page on which the languages agree."""
    pages = {"docs/zh/gae/inputs.md": PAGE_ZH, "docs/en/gae/inputs.md": PAGE_EN}
    write_files(tmp_path, pages)
    return tmp_path


def test_the_line_holds_the_hash_of_the_other_languages_words(project):
    assert [words_hash(PAGE_EN), words_hash(PAGE_ZH)] == [
        "3c58c9f4f0ad",
        "f8abc54be66e",
    ]
    assert str(twins_of(project, "gae/inputs")) == "gae/inputs: agreed"


def test_every_pair_of_the_project_is_agreed_on():
    unrecorded = [
        page
        for page in page_ids(ROOT)
        if twins_of(ROOT, page).state is TwinState.UNRECORDED
    ]
    assert unrecorded == []


@pytest.mark.parametrize("value", ["garbage", "12ab", "[]", "ABCDEF012345", "{a: b}"])
def test_a_line_that_is_no_hash_is_named_with_its_remedy(value):
    text = broken(f"agreed: {agreed_hash(EN)}", f"agreed: {value}", EN)
    assert state_of_twins(ZH, text) is TwinState.UNRECORDED
    (problem,) = check_agreed(sample.page(text))
    assert text.splitlines()[problem.line - 1] == f"agreed: {value}"
    assert "make agree PAGE=alignment/sample" in problem.fix
    assert check_agreed(sample.page(EN)) == check_agreed(sample.page()) == []
