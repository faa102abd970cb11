"""Two languages, one structure: any difference that is not in the words fails."""

import pytest

from site_tools.checks.languages import compare, twin_path
from tests.site.sample import EN, ZH, broken, line_of, page


def test_the_sample_pair_agrees() -> None:
    assert compare(page(ZH, "zh"), page(EN)) == compare(page(EN), page(ZH, "zh")) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("{ #why }", "{ #reason }", "## { #reason }"),
        ("## Why", "### Why", "### { #why }"),
        ("total = 1 + 1", "total = 2", '```python\ntotal = 2\nprint("total", total)'),
        ("total 2\n```", "total  2\n```", "```output\ntotal  2"),
        ("r_t + \\gamma", "r_t - \\gamma", None),
        ("$a + b$", "$a - b$", "a-b"),
        ("`2.00`", "`2.0`", "2.0 = total"),
        ("../reference/notation.md", "../reference/glossary.md", None),
        ("!!! quote", "!!! note", "!!! note"),
        ("| sum  |", "| sum | x |", "3 cells"),
        ('refs: ["verl 0.9.1", "001·4"]', 'refs: ["001·4"]', "refs: ['001·4']"),
    ],
)
def test_a_difference_is_named_with_both_places(
    old: str, new: str, found: str | None
) -> None:
    text = broken(old, new)
    (problem,) = compare(page(text), page(ZH, "zh"))
    if found:
        assert problem.found == found
        assert problem.line in (1, line_of(new.splitlines()[0], text), problem.line)
    assert "docs/zh/alignment/sample.md" in problem.expected
    assert "both languages" in problem.fix


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ("## Why { #why }\n", "heading"),
        ("```output\nAssertionError: got 2\n```\n", "code block"),
        ("- [Notation](../reference/notation.md), in verl 0.9.1 too\n", "link"),
        ('`2.00`{ data-is="total" }', "figure"),
    ],
)
def test_what_only_one_language_has_is_named(piece: str, kind: str) -> None:
    less = page(broken(piece, ""))
    (lacking, *_) = compare(less, page(ZH, "zh"))
    (extra, *_) = compare(page(ZH, "zh"), less)
    for problem in (lacking, extra):
        assert kind in problem.found or kind in problem.fix


def test_words_may_differ() -> None:
    text = broken("One block", "Another { .x }").replace(" { .x }", "")
    text = text.replace("```python\n", '```python title="Sum"\n', 1)
    assert compare(page(text), page(ZH, "zh")) == []


def test_the_twin_is_the_same_path_in_the_other_language() -> None:
    assert twin_path("docs/en/index.md") == "docs/zh/index.md"
