"""Every way found to say a wrong number, tried on a page of each language.

What is caught and what is not was written down before the code was: it is a stranger's
list of tries. What is not caught is listed for readers on about/verification.
"""

import re

import pytest

from site_tools.judge.allowed import check_html
from site_tools.page.pictures import read_picture
from tests.site.sample import EN, ZH, broken, line_of, page, shown_tree

CAUGHT = {
    "en": r"""
three quarters | three-quarters | two thirds | a third of it | one third | a quarter
| half of it | one half | nine tenths | three fifths of it | ninety-five percent
| ninety-five per cent | zero point nine five | nought point nine | one and a half
| one point two | six-sevenths | 3 of 4 | 3 out of 4 | 1 in 8 | nine out of ten
| one in ten | 3:4 | 1 : 3 | 5∶8 | 5÷8 | 5∕8 | 1 over 3 | 2 to 1 | 2-to-1 | 8 of 8
| 0,95 | 0·95 | 0٫95 | 0. 95 | ₀.₉₅ | 9️⃣5️⃣% | 1½ | 10^-3 | 95 points | 5 pp | 50 bps
| 5-percent | 6‑7ths | fifty-fifty | hundredfold | a hundred-fold | 3-fold | 10× | 10x
| 10 times | ten times | 2^10 | 16 times | a factor of 10 | 1 in a million | v1.2
| 7 = 2 + 3 | (2 + 3) × 2 = 11 | 5 – 2 = 2 | 2³ = 9 | 2^3 = 9 | √16 = 5 | 2 + 3 > 7
| 2 < 1 | 3 ≠ 3 | 2 ** 3 = 9 | 4 = 2 + 3 | 2 + 3 is 7 | 6 times 4 is 25 | 2 plus 2 is 5
| two plus two is five | 5! = 100 | `[0.1, 0.95]` | `A = [0.1, 0.95]` | `0.1, 0.95`
| `x > 0.98` | `0.98 → 0.97` | `0.98x` | `1/3` | `0.98 + 0.02` | `1 / 4 = 0.98`
| ×2 | about ×10 | × 3 | roughly double | it doubles | has more than doubled | halved
| twice as much | twice the length | thrice that of k2 | double the KL
| x2 | x10 as large | multiplied by eight | multiplied by 8 | two of five are | 3 sigma
| three standard deviations | 2σ
| an order of magnitude | two orders of magnitude | 3 orders of magnitude
| `{"a": 0.98}` | `f(0.98)` | `--lr 0.98` | `algorithm.lam=0.95` | $\frac{3}{4}$
| $\tfrac12$ | $V(s_0)=7$ | $10^{-3}$ | $98\%$ | $\text{0.98}$""",
    "zh": r"""
一半 | 半数 | 对半 | 一倍半 | 两个半 | 4 个里有 3 个 | 二比一 | 9成 | 每十个里有九个
| 万分之五 | 百分之玖拾伍 | 九五折 | 十有八九 | 十倍 | 10 倍 | 两倍 | 2 加 2 等于 5
| 二加二等于五 | 三成 | 三分之一 | 0，95％ | 一点五倍 | 百分之95 | 〇点九五 | 五个百分点
| 9.5成 | 3∶4 | 0,95 | ×2 | 大约翻倍 | 翻了一番 | 翻了不止一番 | 加倍 | 减半
| 乘以八 | 乘以 8 | 五个里的两个 | 三个标准差 | 3 个标准差 | 3σ | x2
| 一个数量级 | 大两个数量级 | 3 个数量级""",
}
FREE = {
    "en": r"""
1,234 tokens | 12:30 | 2024-05-06 | 004·7 | one of the two | 1–2 | the third run
| a lower half | half right | 0 to 3 | (0, 1) | 8 tokens | 1+1=2 | 2³ = 8
| (2 + 3) × 2 = 10 | 5 – 2 = 3 | $\gamma=1$ | $t=99$ | `1 + 1` | `values[:, 1]` | $98$
| twice | run twice, then | double precision | is double precision | double-clip
| three times, each time | 4 times per batch | run 2 times in a row | the second half
| the second
half | the latter half | `1/0 mask` | a 0/1 mask | x86 | multiplied by two
| divided by 2 | one standard deviation | two of four experts
| order of magnitude | smaller by orders of magnitude | 2 × 3 | 40×40 | $n$ × 3 | `98`
| `f(2)` | [a link](x.md#v0.5) | verl 0.9.1
| https://example.org/1.5""",
    "zh": r"""
写到一半 | 一比一照抄 | 12:30 | 一千二百三十四个 | 前一半 | 后一半 | 另一半
| `0/1 掩码` | x86 | 乘以 2 | 除以 2 | 一个标准差
| 好几个数量级 | 数量级 | 2 × 3 | 加倍小心 | 翻过一页 | 成立 | 第 0 个。1 之后
| 八折线 | 第三次""",
}
TEXTS = {"en": (EN, "*verl's default*: the same."), "zh": (ZH, "*verl 默认*：一样。")}


def tries(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (language, text)
        for language, listed in texts.items()
        for text in re.split(r"[ \n]*[|] ", listed.strip())
    ]


def found(text: str, language: str, of: str = "found") -> list[str]:
    whole, place = TEXTS[language]
    assert whole.count(place) == 1
    read = page(whole.replace(place, f"{place}\n\nIt is {text}."), language)
    return [getattr(problem, of) for problem in read.problems]


@pytest.mark.parametrize(("language", "text"), tries(CAUGHT))
def test_a_wrong_number_is_caught_however_it_is_said(language, text):
    assert found(text, language)


@pytest.mark.parametrize(("language", "text"), tries(FREE))
def test_what_is_not_a_figure_may_be_said(language, text):
    assert found(text, language) == []


CONSTANTS = """0.98 | 0.5 + 0.48 | total * 0 + 0.98 | total and 0.98
| 0.98 if total else 0
| (lambda: 0.98)() + total * 0 | total + 0.98 - total | __import__('math').pi"""


@pytest.mark.parametrize("expression", re.split(r"\s*[|] ", CONSTANTS))
def test_a_figure_is_not_bound_to_itself(expression):
    (told,) = found(f'`0.98`{{ data-is="{expression}" }}', "en", "message")
    assert told.key.startswith("binding_")
    svg = f'<svg viewBox="0 0 9 9"><text data-is="{expression}">0.98</text></svg>'
    assert read_picture(svg, "a.svg")[1]


@pytest.mark.parametrize("language", ["text", "bash", "json", "yaml", "diff"])
def test_a_fence_that_does_not_run_has_no_figure(language):
    (told,) = found(f"so\n\n```{language}\nbias: 0.98\n```\n\nIt is", "en")
    assert told == f"0.98 in a {language} fence"


def test_only_what_a_patch_takes_away_is_not_ours():
    patch = (
        "# TRL 1.16.0\n--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-to 0.7\n+from {} to 0.7"
    )
    taken, made_up = (f"so\n\n```diff\n{patch}\n```\n\nIt is" for _ in range(2))
    assert found(taken.format("0.7"), "en") == []
    assert found(made_up.format("0.98"), "en") == ["0.98 in a diff fence"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("question: Is two the sum?", "question: Is it 98% lower?"),
        ("What is one and one?", "Is it three quarters?"),
        ("question: Is two the sum?", "title: Is it 10 times?"),
    ],
)
def test_a_title_has_no_figure(old, new):
    (told, *_) = page(broken(old, new)).problems
    assert "of the front matter" in told.found
    assert told.line == line_of(new, broken(old, new))


def test_a_title_may_name_a_setting_of_the_code():
    text = broken("What is one and one?", "Is it so at lam 0.95?")
    assert page(text).problems
    assert not page(text.replace("total = 1 + 1", "total, lam = 1 + 1, 0.95")).problems


@pytest.mark.parametrize("shown", ["0,98", "half", "three quarters", "2 + 2 = 5"])
def test_a_picture_says_no_number_that_nothing_binds(shown):
    svg = f'<svg viewBox="0 0 9 9"><text>{shown}</text></svg>'
    assert read_picture(svg, "a.svg")[1]


# Tricks of Markdown, as readers see them.

PLACE = "*verl's default*: the same."


def shown(text: str) -> list[str]:
    read = page(text)
    return [p.found for p in (*read.problems, *check_html(read, shown_tree(read)))]


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("It is &#48;.&#53;.", "0.5 (a decimal)"),
        ("It is 50&#37;.", "50% (a percentage)"),
        ("[^1]: It is 0.5.", "0.5 (a decimal)"),
        (r'`2`{ data-is="a[\"x\"]" }', "`2` with the attribute x_"),
        ('`1 = 1 = 2`{ data-is="total" }', "'1 = 1 = 2' must have one equals"),
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


@pytest.mark.parametrize("written", ["0.**7**", "*0*.7"])
def test_a_figure_is_told_at_its_own_line(written):
    """Though another line has the same one, as it is shown."""
    text = broken(PLACE, f"*verl*: 0.\n\nSo\nit is {written}.\n\nIt is 0.7.")
    text = broken("Is two the sum?", "Is it 0.7?", text)
    place = line_of(written, text)
    told = [p.line for p in page(text).problems if p.found.startswith("0.7 (")]
    assert told == [2, place, place + 2]


def test_a_sentence_may_end_at_a_figure():
    prose = (
        'It is `2`{ data-is="total" }. Or `2`{ data-is="total" }, from '
        '`2`{ data-is="total" } to `2`{ data-is="total" }：x-`f(2)`.'
    )
    assert shown(broken(PLACE, prose)) == []


def test_the_word_before_a_version_is_what_has_it():
    for prose, ref in (
        ("TRL 1.12.0", "TRL"),
        ("在 TRL 0.20 里", "TRL"),
        ("1.12.0", "verl"),
    ):
        (told,) = page(broken(PLACE, prose)).problems
        version = re.search(r"[\d.]+", prose)
        assert version and f'refs: ["{ref} {version[0]}"]' in told.fix


def test_a_quotation_may_hold_figures_and_only_its_own():
    text = broken("It is 2.5.", "It is 2.5.\n\nIt is 2.5.")
    (told,) = page(text).problems
    assert told.found == "2.5 (a decimal)"
    assert told.line == line_of("\nIt is 2.5.", text) + 1
    text = broken("It is 2.5.", 'It is `2.5`{ data-is="total" }.')
    (told,) = page(text).problems
    assert told.found == "`2.5` with data-is inside a quotation"
