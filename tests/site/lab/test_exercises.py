"""Whether an answer is the right one, a known mistake or neither: judged in node."""

import gzip

import pytest

from site_tools.finish.tree import lean
from tests.layout import ROOT
from tests.site.lab.in_node import in_node

MODULE = ROOT / "docs" / "theme" / "assets" / "lab" / "exercises.js"
JUDGE = "given.map(([kind, answers, text]) => m.judge(kind, answers, text))"


def judged(kind: str, answers: dict[str, bool], *texts: str) -> list[int]:
    given = [{"shown": shown, "right": right} for shown, right in answers.items()]
    return in_node(MODULE, JUDGE, [[kind, given, text] for text in texts])


@pytest.mark.parametrize(
    ("shown", "same", "others"),
    [
        ("−0.5575", ["-0.5575", "−0.55754", "－０．５５７５", "-.5575", " - 0.5575 "],
            ["0.5575", "-0.5576", "-0.56", "", "x", "-", "--0.5575", "1e1"]),
        ("0.33", ["1/3", "33%", "0.3333", "33 %", "330‰", "33/100"],
            ["1/4", "3.3", "33"]),
        ("33%", ["0.33", "33%", "32.6%", "1/3"], ["33", "31%", "1/4"]),
        ("+0.80", ["0.8", "+.8", ".804", "4/5"], ["-0.8", "0.81", "8"]),
        ("1/3", ["1/3", "0.33", "2/6", "33%"], ["0.3", "0.35", "3"]),
        ("10", ["10", "10.0", "20/2"], ["9.6", "10.4", "11"]),
        ("1,024", ["1024", "1,024"], ["1,02", "1.024"]),
        ("0", ["0", "-0", "0.00"], ["0.1", ""]),
    ],
)  # fmt: skip
def test_a_number_is_read_as_people_write_it(shown, same, others):
    assert judged("number", {shown: True}, *same, *others) == (
        [0] * len(same) + [-1] * len(others)
    )


def test_what_is_right_goes_before_a_mistake_that_is_near():
    answers = {"0.5": False, "0.52": True, "0.6": False}
    assert judged("number", answers, "0.52", "0.5", "0.64", "0.7") == [1, 0, 2, -1]


def test_code_is_compared_without_blanks():
    answers = {"after[:-1] = V[1:]": True, "after = V": False}
    texts = ["after[ : -1]=V[1:]", "after=V", "after = W"]
    assert judged("code", answers, *texts) == [0, 1, -1]
    assert judged("code", {'x["a"]': True}, "x['a']") == [0]


def test_the_module_weighs_at_most_three_kilobytes():
    code = lean(MODULE.read_text("utf-8")).encode()
    assert 1000 < len(gzip.compress(code, 6, mtime=0)) <= 3 * 1024
