"""Half-width punctuation beside Chinese characters, told and mended."""

import pytest

from site_tools.checks.mendable import check_mendable
from site_tools.fixing.punctuation import widened
from tests.site.sample import page

PROSE = {
    "A 越大:越好。": ("A 越大:越好。", "A 越大：越好。"),
    "不知道抖多少.log_prob请用 `x`。": (
        "不知道抖多少.log_prob请用",
        "不知道抖多少。log_prob请用",
    ),
    "这是 PPO.所以如此。": ("这是 PPO.所以如此。", "这是 PPO。所以如此。"),
}


def told(prose: str, language: str = "zh") -> list[tuple[int, str, str]]:
    text = f"---\ntitle: 一页\n---\n\n{prose}\n"
    read = page(text, language)
    return [(p.line, p.found, p.expected) for p in check_mendable(read)]


@pytest.mark.parametrize(("prose", "pieces"), PROSE.items())
def test_a_half_width_mark_is_told_with_what_stands_around_it(
    prose: str, pieces: tuple[str, str]
) -> None:
    ((line, found, expected),) = told(prose)
    assert line == 5
    assert found in pieces[0] and expected in pieces[1] and found != expected
    assert told(prose, "en") == []


@pytest.mark.parametrize(
    "prose",
    [
        "见 a.b.c。",
        "PPO vs.别的。",
        "以.py 结尾，中.com 也是。",
        "版本 2.5。",
        "`大:小`。",
    ],
)
def test_a_dot_that_ends_no_sentence_stays(prose: str) -> None:
    assert widened(prose) == prose and told(prose) == []
