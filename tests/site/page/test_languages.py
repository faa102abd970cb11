"""Two languages, one structure: any difference that is not in the words fails."""

import pytest

from site_tools.judge.languages import compare
from tests.site.sample import ZH, broken, page

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
