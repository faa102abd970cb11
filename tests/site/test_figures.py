"""Figures: bound, unbound, wrong, hidden; each is named with line and remedy."""

import re

import pytest

from site_tools.checks.census import check_shown
from site_tools.page.bindings import Figure, render
from site_tools.page.rendered import render as render_page
from site_tools.running import verdict
from site_tools.running.verdict import check_figure
from tests.site.sample import EN, ROOT, broken, line_of, page

PLACE = "*verl's default*: the same."
ALT = "0.5 (a decimal) in the alt of a picture or link"


def found(text: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.found) for problem in page(text).problems]


def test_the_sample_has_no_problem_and_three_figures():
    sample = page()
    assert sample.problems == ()
    assert [f.expression for f in sample.figures] == ["total", "total"]


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ("It is 0.5.", "0.5 (a decimal)"),
        ("It is 1+1=3.", "1+1=3"),
        ("![0.5 of it](value_before_token.svg)", ALT),
        ('It is `0.5`{ data-iss="total" }.', "`0.5` with the attribute data-iss"),
        ('It is *x*{ data-is="total" }.', "x with data-is, but without backticks"),
        ('It is `f(x)` { data-is="total" }.', '{ data-is="total" }.'),
        ("It is $0{.}5$.", "0.5 in a formula"),
        ("[^1]: It is 0.5.", "0.5 (a decimal)"),
    ],
)
def test_an_unbound_figure_is_named_with_its_line(planted, message):
    text = broken(PLACE, f"*verl's default*.\n\n{planted}")
    assert found(text) == [(line_of(planted, text), message)]
    assert all(problem.fix for problem in page(text).problems)


def test_the_word_before_a_version_is_what_has_it():
    for prose, ref in (
        ("TRL 1.12.0", "TRL"),
        ("在 TRL 0.20 里", "TRL"),
        ("1.12.0", "verl"),
    ):
        (problem,) = page(broken(PLACE, prose)).problems
        version = re.search(r"[\d.]+", prose)
        assert version and f'refs: ["{ref} {version[0]}"]' in problem.fix


def test_what_is_no_figure_stays_silent():
    prose = (
        "`f(2)` in code, [a link](x.md#v0.5), 6 tokens, 1+1=2, verl 0.9.1, 004·2, "
        "$\\gamma=1, T-1$, https://example.org/1.5"
    )
    assert found(broken(PLACE, prose)) == []


def test_a_table_number_must_be_bound():
    text = broken('`2`{ data-is="total" }', "2")
    assert found(text) == [(line_of("| sum", text), "2 (a number in a table)")]


def test_a_quotation_may_hold_figures_and_only_its_own():
    text = broken("It is 2.5.", "It is 2.5.\n\nIt is 2.5.")
    assert found(text) == [(line_of("\nIt is 2.5.", text) + 1, "2.5 (a decimal)")]


@pytest.mark.parametrize(
    ("binding", "reason"),
    [
        ('`two`{ data-is="total" }', "'two' is not a number"),
        (r'`2`{ data-is="a[\"x\"]" }', "with the attribute x_"),
        ('`2`{ data-is=total" }', "unterminated string literal"),
        ('`2`{ data-is="total +" }', "invalid syntax"),
        ('`2`{ data-is="2" }', "a name that a block of the page defines"),
        ('`2`{ data-is="2 if True else total" }', "without :=, if, and, or"),
        ('`1 = 1 = 2`{ data-is="total" }', "must have one equals sign"),
        ('`2`{ data-is="rows[0][1]" }', "no ][, which Markdown takes for a link"),
    ],
)
def test_a_binding_that_cannot_be_read_is_refused(binding, reason):
    text = broken('`2.00`{ data-is="total" }', binding)
    (problem,) = page(text).problems
    assert problem.line == line_of("The sum is", text)
    assert reason in str(problem)


def test_a_wrong_figure_is_named_with_the_value():
    figure = Figure(7, "0.652", "a[0]")
    problem = check_figure(figure, 0.6512, "docs/en/x.md")
    assert str(problem) == (
        "docs/en/x.md:7\n"
        "  found:    0.652\n"
        "  expected: a[0] = 0.6512, within half a unit of the last digit shown\n"
        "  fix:      correct the figure, or the expression it is bound to"
    )
    assert check_figure(figure, 0.65249, "docs/en/x.md") is None


def test_figures_are_evaluated_where_the_blocks_end():
    text = broken('`2`{ data-is="total" }', '`2`{ data-is="total + missing" }')
    verified = verdict.run(page(text))
    (problem,) = verdict.check_figures(verified)
    assert verified.run.values[0] == 2
    why = "NameError: name 'missing' is not defined"
    assert problem.found == f"total + missing raises {why}"


def test_a_bound_figure_is_text_for_readers():
    html = '<code data-is="a[0]">0.5</code> <code>x</code>'
    shown = '<span class="figure" data-is="a[0]">0.5</span> <code>x</code>'
    assert render(html) == shown
    assert EN.count("data-is") == 2


def test_a_bound_figure_in_a_quotation_is_refused():
    text = broken("It is 2.5.", 'It is `2.5`{ data-is="total" }.')
    (problem,) = page(text).problems
    assert problem.found == "`2.5` with data-is inside a quotation"


def shown(text: str) -> list[str]:
    read = page(text)
    return [
        p.found for p in (*read.problems, *check_shown(read, render_page(text, ROOT)))
    ]


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("It is &#48;.&#53;.", "0.5 (a decimal)"),
        ("It is 50&#37;.", "50% (a percentage)"),
        ("It is 0.\u20605.", "0.5 (a decimal)"),
        ("It is 0.*5*.", "0.5 (a decimal)"),
        ("- stray ` tick\n- it is 0.5\n- another ` tick", "0.5 (a decimal)"),
        ("[a]: x.md\n    'it is 0.5'\n\nSee [b][a].", "0.5 (a decimal)"),
        ('It is `2`{ data-is="total" }%.', "2%"),
        (r"It is \(a = 0.5\).", "0.5 in a formula"),
        ("![a plot](https://example.org/x.svg)", "a picture from https://"),
        ("![a plot][p]\n\n[p]: value_before_token.svg", "a picture from value_before"),
        ('```{ .python .norun data-reason="at 0.5" }\nx\n```', "0.5 (a decimal)"),
        ('```python title="at 0.5"\nx = 1\n```', "0.5 (a decimal)"),
    ],
)
def test_a_trick_is_found(planted, found):
    seen = shown(broken(PLACE, f"*verl*.\n\n{planted}"))
    assert [text for text in seen if text.startswith(found)], seen


def test_a_sentence_may_end_at_a_figure():
    prose = (
        'It is `2`{ data-is="total" }. Or `2`{ data-is="total" }, from '
        '`2`{ data-is="total" } to `2`{ data-is="total" }：x-`f(2)`.'
    )
    assert shown(broken(PLACE, prose)) == []
