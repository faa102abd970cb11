"""How Chinese is set: each rule by what it must mend and what it must leave."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from site_tools.contributing.fix import mended
from site_tools.judge.typography import typeset_chinese
from tests.layout import ROOT

pytestmark = pytest.mark.pages

PAGES = sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/??/**/*.md"))


def test_no_page_of_the_site_is_changed():
    assert len(PAGES) > 80
    for path in PAGES:
        text = (ROOT / path).read_bytes().decode()
        assert mended(text, path) == text, path


SET = """
第0个token在前 → 第 0 个 token 在前
奖励是$r_t$的和 → 奖励是 $r_t$ 的和
是`0.5`{ data-is="a" }的 → 是 `0.5`{ data-is="a" } 的
占65%的，λ小，约10⁻⁵的 → 占 65% 的，λ 小，约 10⁻⁵ 的
对 ，V 是， 它 → 对，V 是，它
??? note "先猜V"  → ??? note "先猜 V"
**是**, 但 → **是**，但
对吗?对!好;坏:完 → 对吗？对！好；坏：完
到此为止. → 到此为止。
自举(bootstrap)是 → 自举（bootstrap）是
(见[下面](x.md)) → （见[下面](x.md)）
"""


def test_chinese_is_set_as_the_site_sets_it():
    for row in SET.strip().replace("  →", " →").split("\n"):
        wrong, right = row.split(" → ")
        assert typeset_chinese(wrong) == typeset_chinese(right) == right
    front = "---\nquestion: V{}是什么{}\naliases: [V是什么?, 是V]\n---\n\n是{}V\n"
    assert typeset_chinese(front.format("", "?", "")) == front.format(" ", "？", " ")


@pytest.mark.parametrize(
    "text",
    [
        "`x中y` 和 $\\text{奖励r}$",
        "```python\nx = '中x'  # 中x\n```",
        '!!! quote "对话 001·4"\n\n    是V，第0个token,然后(x)\n\n    又是V',
        "提问者说的“reward和”只差一个词",
        "[下面](中x.md#是V) 见 <https://a.b/中x> https://a.b/中x",
        "## 对 { #是V }",
        "第 1、2 格；[见下](x.md)。**对。** critic 读完",
        "---\nneeds: [中x]\naliases: [V是什么, 中x]\n---\n",
        "$$\n\\text{中x}\n$$",
        "取区间 (0, 1) 里的",
        "切片 -T: 从 a0 取起",
        "&lt;中 :smile:中 \\(中\\)",
        "~~~py\n中x no end\n",
    ],
)
def test_what_is_no_prose_and_other_punctuation_stay(text):
    assert typeset_chinese(text) == text


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("\ufeff一\r\n二\r三", "一\n二\n三\n"),
        ("一 \n\t\n二\t", "一\n\n二\n"),
        ("一  \n\n二\n\n\n", "一\n\n二\n"),
        ("```text\na  \n\n```\n\n\n", "```text\na  \n\n```\n"),
        ("~~~md\n```python\n```\n~~~\n", "~~~md\n```python\n```\n~~~\n"),
    ],
)
def test_lines_end_as_they_must(wrong, right):
    assert mended(wrong, "docs/en/index.md") == right
    assert mended(right, "docs/en/index.md") == right


WORDS = ["V", "token", "0.95", "65%", "λ", "`a中b`", "$r中t$", "https://a.b/中x "]
MARKS = [" ", "  ", "\n", "\n\n", "**", "*", "- ", "1. ", "## ", "|", "\\", "_"]
LINKS = ["[见GAE](a中b.md)", "![图V](图V.svg)", "{ #id }", '`0.5`{ data-is="中x" }']
BOXES = ["```python\nx = '中x,'\n```", '!!! quote "001·4"\n\n    原V,文']
PIECES = st.sampled_from(
    [*'是的和，。：（）“”,.:;?!()"', *WORDS, *MARKS, *LINKS, "&lt;"]
    + [f"\n\n{box}\n\n" for box in BOXES]
)
FOLD = str.maketrans("，。；：？！（）", ",.;:?!()")


@given(st.lists(PIECES, max_size=25).map("".join))
@settings(max_examples=200, deadline=None)
@example("是,**V**,`x`")
@example("**是V** ,和")
def test_fix_twice_is_fix_once_and_nothing_else_changes(text):
    once = mended(text, "docs/zh/index.md")
    assert mended(once, "docs/zh/index.md") == once
    plain, mended_plain = (re.sub(r"\s", "", t.translate(FOLD)) for t in (text, once))
    assert plain == mended_plain
    english = mended(text, "docs/en/index.md")
    assert english.split() == text.split()
