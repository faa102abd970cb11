"""What fix does to a text: each rule by what it must mend and what it must leave."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from site_tools.fixing.fence_words import canonical
from site_tools.fixing.front import with_front
from site_tools.fixing.layout import apart, line_ends, trimmed
from site_tools.fixing.mechanical import chinese, mended
from site_tools.fixing.spacing import spaced
from site_tools.page.prose import parts

ROOT = Path(__file__).resolve().parents[2]
BOX = '!!! note "x"\n\n'
PAGES = sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/??/**/*.md"))


@pytest.mark.parametrize("path", PAGES)
def test_no_page_of_the_site_is_changed(path: str) -> None:
    _, language, name = path.removesuffix(".md").split("/", 2)
    text = (ROOT / path).read_bytes().decode()
    twin = ROOT / "docs" / {"zh": "en", "en": "zh"}[language] / f"{name}.md"
    other = twin.read_text("utf-8") if twin.is_file() else None
    assert mended(text, name, path, other) == (text, [])


def test_there_are_pages() -> None:
    assert len(PAGES) > 80


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("第0个token在前", "第 0 个 token 在前"),
        ("奖励是$r_t$的和", "奖励是 $r_t$ 的和"),
        ("取`values`里的", "取 `values` 里的"),
        ('是`0.5`{ data-is="a" }的', '是 `0.5`{ data-is="a" } 的'),
        ("占65%的，λ小，约10⁻⁵的", "占 65% 的，λ 小，约 10⁻⁵ 的"),
        ("看[GAE](x.md)的", "看 [GAE](x.md) 的"),
        ("看**[GAE](x.md)**的", "看 **[GAE](x.md)** 的"),
        ("一个**V**函数，*verl*的", "一个 **V** 函数，*verl* 的"),
        ("**是**V，[对](x.md)`V`", "**是** V，[对](x.md) `V`"),
        ("是  V  的", "是 V 的"),
        ("对 ，V 是， 它", "对，V 是，它"),
        ("# 用V吗 { #answer }", "# 用 V 吗 { #answer }"),
        ("![图里V在前](x.svg)", "![图里 V 在前](x.svg)"),
        ('??? note "先猜V"\n\n    是V', '??? note "先猜 V"\n\n    是 V'),
        ("- 是V\n\n    是V", "- 是 V\n\n    是 V"),
        (
            "| 项V | 值 |\n|---|---|\n| 是V | `1` |",
            "| 项 V | 值 |\n|---|---|\n| 是 V | `1` |",
        ),
    ],
)
def test_a_blank_stands_between_chinese_and_what_is_not(wrong: str, right: str) -> None:
    assert spaced(wrong) == right
    assert spaced(right) == right


@pytest.mark.parametrize(
    "text",
    [
        "`x中y` 和 $\\text{奖励r}$",
        "```python\nx = '中x'  # 中x\n```",
        "```output\n中x\n```",
        '!!! quote "对话 001·4"\n\n    是V，第0个token,然后(x)\n\n    又是V',
        "!!! quote\n    是V",
        "> 是V",
        "提问者说的“reward和”只差一个词",
        "[下面](中x.md#是V) 见 <https://a.b/中x> https://a.b/中x",
        '值 `0.5`{ data-is="中x" }',
        "## 对 { #是V }",
        "文字\n\n    缩进的code是V",
        "第 1、2 格；[见下](x.md)。**对。** critic 读完",
        "对[^1]\n\n[^1]: 注",
        "---\nneeds: [中x]\naliases: [V是什么, 中x]\n---\n",
        "$$\n\\text{中x}\n$$",
        "<!-- 中x -->",
    ],
)
def test_what_is_no_prose_stays(text: str) -> None:
    assert chinese(text) == text


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("是, 但", "是，但"),
        ("是,**但**", "是，**但**"),
        ("**是**, 但", "**是**，但"),
        ("对吗?对!好;坏:完", "对吗？对！好；坏：完"),
        ("用 V, 奖励", "用 V，奖励"),
        ("取 `a`,然后", "取 `a`，然后"),
        ("到此为止.", "到此为止。"),
        ("到此.\n又一行", "到此。\n又一行"),
        ("自举(bootstrap)是", "自举（bootstrap）是"),
        ("自举 (bootstrap) 是", "自举（bootstrap）是"),
        ("（见下)", "（见下）"),
        ("GAE (广义优势估计)", "GAE（广义优势估计）"),
        ("(见[下面](x.md))", "（见[下面](x.md)）"),
    ],
)
def test_punctuation_beside_chinese_is_wide(wrong: str, right: str) -> None:
    assert chinese(wrong) == right
    assert chinese(right) == right


@pytest.mark.parametrize(
    "text",
    [
        "V(prompt) 是第 0 格",
        "TD(0) 比 f(x) 好",
        "取区间 (0, 1) 里的",
        "切片 -T: 从 a0 取起",
        "见 [x](y.md), see z",
        "好...坏",
        "一. 标题",
        "1. 第一\n2. 第二",
        "是 0.5",
        "第 1,2 格",
        "&lt;中 :smile:中 \\(中\\)",
        "![图](x.svg)",
        "对话 001·4",
    ],
)
def test_other_punctuation_stays(text: str) -> None:
    assert chinese(text) == text


def test_the_question_is_prose_and_the_rest_of_the_front_matter_is_not() -> None:
    text = "---\nquestion: V是什么?\naliases: [V是什么?, 是V]\n---\n\n是V\n"
    right = "---\nquestion: V 是什么？\naliases: [V是什么?, 是V]\n---\n\n是V\n"
    assert with_front(text, chinese) == right
    for old, new in (("a", "a: b"), ('"a', '"a"'), ("a", "[a]"), ("a", '"a')):
        text = f"---\nquestion: {old}\nneeds: []\n---\n"
        assert with_front(text, {old: new}.__getitem__) == text


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("\ufeff一\r\n二\r三", "一\n二\n三\n"),
        ("一 \n\t\n二\t", "一\n\n二\n"),
        ("一  \n二", "一  \n二\n"),
        ("一  \n\n二\n\n\n", "一\n\n二\n"),
        ("```text\na  \n\n```\n\n\n", "```text\na  \n\n```\n"),
        ("", ""),
    ],
)
def test_lines_end_as_they_must(wrong: str, right: str) -> None:
    assert trimmed(line_ends(wrong)) == right


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("看：\n```python\n1\n```\n", "看：\n\n```python\n1\n```\n"),
        (
            "```python\n1\n```\n```output\n1\n```\n",
            "```python\n1\n```\n\n```output\n1\n```\n",
        ),
        ("三条：\n- 一\n- 二\n", "三条：\n\n- 一\n- 二\n"),
        ("三条：\n1. 一\n2. 二\n", "三条：\n\n1. 一\n2. 二\n"),
        (f"{BOX}    三条：\n    - 一\n", f"{BOX}    三条：\n\n    - 一\n"),
    ],
)
def test_an_empty_line_sets_a_fence_or_a_list_apart(wrong: str, right: str) -> None:
    assert apart(wrong) == right
    assert apart(right) == right


@pytest.mark.parametrize(
    "text",
    [
        "- 一\n- 二\n    - 三\n\n## 四\n- 五\n",
        "- 一\n续\n- 二\n",
        "```text\nx\n- y\n```\n",
        "$$\na\n- b\n$$\n",
        '!!! note "x"\n    - y\n',
        "1 减\n2. 是\n",
        "- 一\n  ```python\n  ```\n",
        "---\naliases:\n  - 一\n---\n",
    ],
)
def test_other_lines_stay_together(text: str) -> None:
    assert apart(text) == text


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("~~~Python\n1\n~~~\n", "```python\n1\n```\n"),
        ('```py title="PY"\n1\n```\n', '```python title="PY"\n1\n```\n'),
        ("```{ .Python .cont }\n1\n```\n", "```{ .python .cont }\n1\n```\n"),
        (
            "    ~~~~ OUTPUT\n    ~~~\n    ~~~~\n",
            "    ```` output\n    ~~~\n    ````\n",
        ),
    ],
)
def test_a_fence_has_one_spelling(wrong: str, right: str) -> None:
    assert canonical(wrong) == right


@pytest.mark.parametrize(
    "text",
    [
        "~~~markdown\n```python\n```\n~~~\n",
        "```text\nPython ~~~\n```\n",
        "~~~py\nno end\n",
    ],
)
def test_a_fence_that_needs_its_spelling_keeps_it(text: str) -> None:
    assert canonical(text) == text


WORDS = ["V", "token", "0.95", "65%", "λ", "`a中b`", "$r中t$", "https://a.b/中x "]
MARKS = [" ", "  ", "\n", "\n\n", "    ", "**", "*", "- ", "1. ", "## ", "|", "\\", "_"]
LINKS = ["[见GAE](a中b.md)", "![图V](图V.svg)", "{ #id }", '`0.5`{ data-is="中x" }']
BOXES = ["```python\nx = '中x,'\n```", '!!! quote "001·4"\n\n    原V,文']
PIECES = st.sampled_from(
    [*'是的和，。：（）“”,.:;?!()"', *WORDS, *MARKS, *LINKS, "&lt;"]
    + [f"\n\n{box}\n\n" for box in BOXES]
)
TEXTS = st.lists(PIECES, max_size=25).map("".join)
FOLD = str.maketrans("，。；：？！（）", ",.;:?!()")
VERBATIM = ("code", "inline", "display", "address", "target", "quote")


def folded(text: str) -> str:
    return re.sub(r"\s", "", text.translate(FOLD))


def verbatim(text: str) -> list[tuple[str, str]]:
    return [(p.kind, p.text) for p in parts(text) if p.kind in VERBATIM]


@given(TEXTS)
@settings(max_examples=200, deadline=None)
@example("是,**V**,`x`")
@example("**是V** ,和")
def test_fix_twice_is_fix_once_and_nothing_else_changes(text: str) -> None:
    once, _ = mended(text, "index", "docs/zh/index.md")
    assert mended(once, "index", "docs/zh/index.md")[0] == once
    assert folded(once) == folded(text)
    assert verbatim(once) == verbatim(line_ends(text))
    english, _ = mended(text, "index", "docs/en/index.md")
    assert english.split() == text.split()
