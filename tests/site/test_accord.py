"""What counts as words, and which state of a page follows from them."""

import pytest

from site_tools.checks.languages import compare
from site_tools.page.accord import Accord, State, judge, lock_of
from site_tools.page.prose import wording
from tests.site.sample import EN, ZH, broken, page

LOCK = lock_of(wording(ZH), wording(EN))
TABLE = "| term | value |\n|------|-------|\n| sum  |"
NARROW = "|term|value|\n|:-|-|\n|sum|"


def state(zh: str | None = ZH, en: str | None = EN, recorded: bool = True) -> Accord:
    words = [None if text is None else wording(text) for text in (zh, en)]
    return judge("alignment/sample", *words, LOCK if recorded else None)


def test_the_sample_is_in_accord() -> None:
    assert state() == Accord("alignment/sample", State.ACCORD)
    assert str(state()) == "alignment/sample: in accord"


def test_the_words_of_a_page_are_in_its_sections() -> None:
    assert [*wording(EN)] == [
        "(front-matter)",
        "answer",
        "code",
        "why",
        "wrong-answers",
        "next",
    ]
    assert wording(ZH)["(front-matter)"] == "和 是 二 吗 ？ 一 加 一 是 几 ？"
    said = '## It is, and exactly **Yes.** The sum is `data-is="total"` , as $G-V$'
    assert wording(EN)["answer"] == f"{said} says. *verl's default*: the same."


LAYOUT = {
    "reflowed": ("The sum is `2.00`", "The\nsum is\n`2.00`"),
    "blank lines": ("*verl's default*", "\n\n*verl's default*"),
    "a blank at a line's end": ("the same.\n", "the same. \n"),
    "a wider table": (TABLE, NARROW),
    "code": ("total = 1 + 1", "total = 2"),
    "an output": ("total 2\n```", "total 3\n```"),
    "a displayed formula": (r"\delta_t = r_t", r"\delta_t = R_t"),
    "blanks in a formula": ("$G - V$", "$G-V$"),
    "a figure as shown": ("`2.00`{", "`2.0`{"),
    "a link target": ("../reference/notation.md", "../reference/glossary.md"),
    "needs": ("needs: []", "needs: [index]"),
    "what readers do not see": ("## Why {", "<!-- todo -->\n\n## Why {"),
}


@pytest.mark.parametrize(("old", "new"), LAYOUT.values(), ids=LAYOUT.keys())
def test_what_is_not_words_is_no_state(old: str, new: str) -> None:
    assert old in EN
    assert state(en=EN.replace(old, new)).state is State.ACCORD


def test_chinese_may_break_its_lines_and_space_its_words_anywhere() -> None:
    text = broken("就是 $G - V$", "就\n是$G - V$\n", ZH)
    assert state(zh=text).state is State.ACCORD


def test_a_changed_figure_is_left_to_the_comparison() -> None:
    text = broken("`2.00`{", "`2.0`{")
    assert state(en=text).state is State.ACCORD
    (problem,) = compare(page(ZH, "zh"), page(text))
    assert problem.found.startswith("2.00 = total")


WORDS = {
    "a sentence": ("the same.", "no different.", "answer"),
    "a heading": ("## One block", "## A block", "code"),
    "two words made one": ("The sum", "Thesum", "answer"),
    "a cell": ("| sum  |", "| Sum |", "code"),
    "a quotation": ("It is 2.5.", "It was 2.5.", "wrong-answers"),
    "a link's text": ("[Notation]", "[Symbols]", "next"),
    "the question": ("Is two the sum?", "Is the sum two?", "(front-matter)"),
    "an alias": ("What is one and one?", "What is 1 + 1?", "(front-matter)"),
    "an expression": ('{ data-is="total" }, as', '{ data-is="total + 0" }, as', None),
    "a formula": ("$G - V$", "$V - G$", "answer"),
    "a fence's title": ("```python\n", '```python title="Sum"\n', "code"),
    "text above the sections": ("---\n\n## It", "---\n\nNew.\n\n## It", "(top)"),
}


@pytest.mark.parametrize(("old", "new", "section"), WORDS.values(), ids=WORDS.keys())
def test_changed_words_are_found_in_their_section(
    old: str, new: str, section: str | None
) -> None:
    found = state(en=broken(old, new))
    if section == "(top)":
        assert (found.state, found.unrecorded) == (State.UNRECORDED, ("(top)",))
    else:
        assert found.state is State.EN_AHEAD
        assert (found.zh, found.en) == ((), (section or "answer",))


def test_inline_code_that_changed_places_says_something_else() -> None:
    lock = lock_of(wording("`a` 在前"), wording("`a` before `b`"))
    found = judge("x", wording("`a` 在前"), wording("`b` before `a`"), lock)
    assert found.state is State.EN_AHEAD


ZH_CHANGED = broken("一样", "也一样", ZH)
EN_CHANGED = broken("## Why {", "## The reason {")
AGREE = "then make agree PAGE=alignment/sample"


@pytest.mark.parametrize(
    ("zh", "en", "expected", "told"),
    [
        (
            None,
            EN,
            State.MISSING_ZH,
            f"no Chinese; write docs/zh/alignment/sample.md, {AGREE}",
        ),
        (
            ZH,
            None,
            State.MISSING_EN,
            f"no English; write docs/en/alignment/sample.md, {AGREE}",
        ),
        (
            ZH_CHANGED,
            EN,
            State.ZH_AHEAD,
            "Chinese ahead (zh: answer); "
            f"say the same in docs/en/alignment/sample.md, {AGREE}",
        ),
        (
            ZH,
            EN_CHANGED,
            State.EN_AHEAD,
            "English ahead (en: why); "
            f"say the same in docs/zh/alignment/sample.md, {AGREE}",
        ),
        (
            ZH_CHANGED,
            EN_CHANGED,
            State.BOTH_CHANGED,
            f"both changed (zh: answer; en: why); compare both languages, {AGREE}",
        ),
    ],
)
def test_each_state_is_told_with_its_sections_and_its_remedy(
    zh: str | None, en: str | None, expected: State, told: str
) -> None:
    assert state(zh, en).state is expected
    assert str(state(zh, en)) == f"alignment/sample: {told}"


def test_a_page_without_a_lock_was_never_recorded() -> None:
    told = f"alignment/sample: never recorded; compare both languages, {AGREE}"
    assert str(state(recorded=False)) == told


def test_a_section_that_only_the_lock_or_only_the_pages_have_is_named() -> None:
    gone = [broken("## Why { #why }", "", text) for text in (EN,)]
    found = state(en=gone[0], zh=broken("## Why { #why }", "", ZH))
    assert found.unrecorded == ("why",)
    more = "\n\n## More { #more }\n\nMore.\n"
    found = state(ZH + more, EN + more)
    assert (found.state, found.unrecorded) == (State.UNRECORDED, ("more",))
    assert "(new: more)" in str(found)


@pytest.mark.parametrize(
    "text",
    ["", "```python\nnever closed", "---\na: b: c\n---\n", "a\x0cb\n\n```\nx\n```\n"],
)
def test_no_text_is_too_broken_to_have_words(text: str) -> None:
    assert set(wording(text)) <= {"(top)"}
