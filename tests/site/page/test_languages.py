"""Two languages, one structure: any difference that is not in the words fails."""

import pytest

from site_tools.judge.languages import compare
from site_tools.judge.verdict_words import read_verdict
from tests.site.sample import EN, ZH, broken, line_of, page

TABLE = "| term | value |\n|------|-------|\n| sum  |"
WIDER = "| term | x | value |\n|------|---|-------|\n| sum  | x |"


def test_only_the_words_of_the_sample_pair_differ():
    titled = page(broken("```python\n", '```python title="Sum"\n'))
    for english in page(), titled:
        for one, other in ((page(ZH, "zh"), english), (english, page(ZH, "zh"))):
            assert compare(one, other) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("{ #why }", "{ #reason }", "## { #reason }"),
        ("## Why", "### Why", "### { #why }"),
        ("total 2\n```", "total  2\n```", "total  2"),
        ("$G - V$", "$G + V$", "G+V"),
        ("../reference/notation.md", "../reference/glossary.md", "../reference/glo"),
        ('quote "001·4"', 'quote "004·2"', "!!! quote 004·2"),
        ("It is 2.5.", "It is 2.7.", "2.7"),
        (TABLE, WIDER, "3 cells"),
        ("as $G - V$ says", "as `x` and $G - V$ say", "inline code `x` in section"),
    ],
)
def test_a_difference_is_named_once_with_both_places(old, new, found):
    text = broken(old, new)
    problem, *others = compare(page(text), page(ZH, "zh"))
    assert problem.found.startswith(found)
    assert "docs/zh/alignment/sample.md" in problem.expected
    assert problem.fix
    assert not others


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ("## Why { #why }\n", "heading"),
        ("```output\nAssertionError: got 2\n```\n", "code block"),
        ("- [Notation](../reference/notation.md), in verl 0.9.1 too\n", "link"),
        ('`2.00`{ data-is="total" }', "figure"),
    ],
)
def test_what_only_one_language_has_is_named(piece, kind):
    less = page(broken(piece, ""))
    for problem, *_ in (compare(less, page(ZH, "zh")), compare(page(ZH, "zh"), less)):
        assert kind in problem.found or kind in problem.fix
        assert problem.path.endswith("zh/alignment/sample.md") or kind != "figure"


SAID = {
    ("en", "yes"): "Yes | Yes, if | **Right.** | True: V | yes",
    ("en", "no"): "No. | No: two | *Neither*, every | Not so",
    ("en", "depends"): "It depends. | Not always: V | Partly | Depends on V",
    ("en", "seldom"): "Hardly ever. | **Rarely** | Almost never does it",
    ("en", "mostly"): "Almost always. | Mostly: | **Usually**",
    ("zh", "seldom"): "几乎不会。 | **很少** | 通常不会： | 几乎从不 | 一般都不会",
    ("zh", "mostly"): "几乎总是。 | 多半会， | **通常是**",
    (
        "en",
        "",
    ): "No token is | Usually the V | True advantages do | Before | Not the mask",
    (
        "zh",
        "yes",
    ): "对。 | 是的，它 | 要盖住： | **没错。** | 一样，只差 | 够，",
    ("zh", "no"): "不对。 | **不是** | 没有。 | 是错的 | 否： | 都不是，",
    ("zh", "depends"): "视情况。 | 不一定： | 要看 V | 对一半 | 视长度而定。 | 不总是",
    ("zh", ""): "对每一个 token 取平均 | 不管怎样 | 是不是 | 先用 V | 有三个模块在算它",
}


@pytest.mark.parametrize(("language", "verdict"), SAID)
def test_the_first_word_of_an_answer_is_read(language, verdict):
    listed = SAID[language, verdict].split(" | ")
    read = {words: read_verdict(words, language) for words in listed}
    assert read == dict.fromkeys(listed, verdict)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("**不对。** 和是", "no"),
        ("**视情况。** 和是", "depends"),
        ("**没有。** 和是", "no"),
        ("**几乎不会。** 和是", "seldom"),
    ],
)
def test_an_answer_has_one_verdict(said, means):
    chinese = page(broken("**对。** 和是", said, ZH), "zh")
    for one, other in ((chinese, page()), (page(), chinese)):
        (told,) = compare(one, other)
        assert told.message.key == "pair_verdict"
        here, there = (told.message.values[name] for name in ("means", "says"))
        assert {here.part, there.part} == {means, "yes"}
        assert told.line == line_of("**", EN)


def test_a_line_on_a_question_has_the_verdict_of_its_twin():
    words = "*verl's default*: the same."
    lines = f"{words}\n\n- 004·2: Yes, it is.\n- 004·3: No, never.\n"
    english = broken(words, lines)
    default = "*verl 默认*：一样。"
    chinese = broken(default, f"{default}\n\n- 004·2：是的。\n- 004·3：会的。\n", ZH)
    (told,) = compare(page(chinese, "zh"), page(english))
    assert told.found.startswith('"会的" (yes)')
    assert told.line == line_of("- 004·3", chinese)
