"""What hides from the scan of the source is found in what readers see."""

import pytest

from site_tools.checks.census import check_shown
from site_tools.page.rendered import render
from tests.site.sample import EN, ROOT, ZH, broken, page

PLACE = "*verl's default*: the same."


def shown(text: str) -> list[str]:
    read = page(text)
    return [p.found for p in (*read.problems, *check_shown(read, render(text, ROOT)))]


def test_the_sample_shows_nothing_unread() -> None:
    assert shown(EN) == shown(ZH) == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("It is &#48;.&#53;.", "0.5 (a decimal)"),
        ("It is 50&#37;.", "50% (a percentage)"),
        ("It is 0.\u20605.", "0.5 (a decimal)"),
        ("It is 0.*5*.", "0.5 (a decimal)"),
        ("It is **0**.**5**.", "0.5 (a decimal)"),
        ("It is 0.[5](x.md).", "0.5 (a decimal)"),
        ("It is _0.5_.", "0.5 (a decimal)"),
        ("- stray ` tick\n- it is 0.5\n- another ` tick", "0.5 (a decimal)"),
        (r"It is \` 0.5 \`.", "0.5 (a decimal)"),
        ("[a]: x.md\n    'it is 0.5'\n\nSee [b][a].", "0.5 (a decimal)"),
        ('It is `2`{ data-is="total" }%.', "[bound figure]%"),
        ('It is `2`{ data-is="total" }0.', "[bound figure]0"),
        ('It is −`2`{ data-is="total" }.', "−[bound figure]"),
        ('It is 1`2`{ data-is="total" }.', "1[bound figure]"),
        ('It is `2`{ data-is="total" },000.', "[bound figure],0"),
        ('It is `2`{ data-is="total" } × 10.', "[bound figure] × 10"),
        (r"It is \(a - 1\).", "a - 1"),
        ("\\begin{align}\na - 1\n\\end{align}", None),
        ("![a plot](plot.png)", "a picture from plot.png"),
        ("![a plot](https://example.org/x.svg)", "a picture from https://"),
        ("![a plot][p]\n\n[p]: value_before_token.svg", "a picture from value_before"),
        ("[x](javascript:alert(1))", 'href="javascript:alert(1)"'),
        ('*x*{ onclick="alert(1)" }', 'onclick="alert(1)" on <em>'),
        ('*x*{ style="color: red" }', 'style="color: red" on <em>'),
        ("| a |\n|---|\n| `7` |", "7 (a number in a table)"),
        ('```{ .python .norun data-reason="at 0.5" }\nx\n```', "0.5 (a decimal)"),
        ('```python title="at 0.5"\nx = 1\n```', "0.5 (a decimal)"),
    ],
)
def test_a_trick_is_found(planted: str, found: str | None) -> None:
    seen = shown(broken(PLACE, f"*verl*.\n\n{planted}"))
    if found is None:
        assert seen
    else:
        assert [text for text in seen if text.startswith(found)], seen


def test_a_sentence_may_end_at_a_figure() -> None:
    prose = (
        'It is `2`{ data-is="total" }. Or `2`{ data-is="total" }, from '
        '`2`{ data-is="total" } to `2`{ data-is="total" }：x-`f(2)`.'
    )
    assert shown(broken(PLACE, prose)) == []
