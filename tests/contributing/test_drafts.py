"""Drafts: what a chat said stands in them unverified, and a check refuses all of it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from site_tools.checks.shape import check_shape
from site_tools.logs.chat_fences import stretches
from site_tools.logs.chat_prose import mended
from site_tools.logs.drafting import Draft, draft
from site_tools.logs.log import Log, Round
from site_tools.logs.reading import read
from site_tools.logs.sorting import sort
from site_tools.logs.unverified import marked, places
from site_tools.page.blocks import Kind
from site_tools.page.fences import scan
from site_tools.page.page import Page, read_page
from tests.contributing.invented_log import LOG
from tests.site.test_dialogue_log import DIALOGUES, HAZARDS, ROOT

SORTED = sort(read(LOG.encode(), "log.md"))
DRAFT = draft([SORTED[0], SORTED[4]])
LINES = DRAFT.text.split("\n")


def page_of(made: Draft, language: str) -> Page:
    return read_page(ROOT, f"docs/{language}/gae/drafted.md", made.text)


def test_a_draft_has_the_form_of_a_page() -> None:
    page = page_of(DRAFT, "zh")
    assert page.meta == {
        "question": "values 为什么要左移一格？",
        "aliases": ["values 为什么要左移一个格？"],
        "needs": [],
        "answers": [],
        "refs": [],
    }
    sections = re.findall(r"(?m)^## .*\{ #(\w+) \}$", page.body)
    assert sections == ["answer", "code", "next", "chat"]
    assert DRAFT.name == "question_01.md"
    english = draft([SORTED[1]])
    assert "## To be written { #answer }" in english.text
    assert english.name == "question_02.md"


def test_headings_have_ids_of_their_own_and_cannot_clash() -> None:
    found = re.findall(r"(?m)^#{3,6} .*$", page_of(DRAFT, "zh").body)
    assert found == [
        "### 原来的问题 1 { #chat-asked-1 }",
        "### 原来的回答 1 { #chat-answered-1 }",
        "#### 结论 &#123; #answer } { #chat-answered-1-1 }",
        "##### 公式 { #chat-answered-1-2 }",
        "### 原来的问题 5 { #chat-asked-2 }",
        "### 原来的回答 5 { #chat-answered-2 }",
    ]


def test_headings_on_both_sides_of_code_are_counted_on() -> None:
    said = "# a\n```\n# no heading\n```\n# b\n"
    made = draft(sort(Log(("", "", ""), (Round(1, 1, "Why?", said),))))
    for number, text in enumerate("ab", 1):
        assert f"\n#### {text} {{ #chat-answered-1-{number} }}\n" in made.text


def test_no_code_of_the_chat_runs() -> None:
    blocks = page_of(DRAFT, "zh").blocks
    assert [block.kind for block in blocks] == [
        Kind.RUN,  # of the template, and raises
        Kind.NORUN,
        Kind.SHOWN,
        Kind.SHOWN,
    ]
    assert blocks[1].reason == "未经验证：出自聊天，没有运行过"
    assert blocks[1].text.endswith(r"# \(不动\)")
    english = page_of(draft([SORTED[1]]), "en").blocks
    assert [(b.kind.name, b.fence.info.split(" ")[0]) for b in english[1:]] == [
        ("SHOWN", "text"),
        ("SHOWN", "console"),
        ("NORUN", "{"),
    ]
    assert english[3].reason == "unverified: from a chat, not run"


def test_formulas_html_and_attributes() -> None:
    text = DRAFT.text
    assert "左移是因为 $V(s_t)$ 在 token 之前" in text
    assert "\n  $$\n  \\delta_t = r_t + 0.95 V_{t+1}\n  $$\n" in text
    assert (
        r"&lt;script>alert(1)&lt;/script> \![图](http://example.invalid/a.png)" in text
    )
    assert '&#123;: onclick="x" }' in text
    assert "小标题\n\n---\n" in text
    assert "$x$ and $y$" in draft([SORTED[1]]).text


def test_each_figure_is_marked_and_refused_with_its_remedy() -> None:
    mark = '{ data-is="unverified?" }'
    assert f"约为 `0.85`{mark}，误差 `12.5%`{mark}，" in DRAFT.text
    assert f"| 一 | `7`{mark} |" in DRAFT.text
    problems = [
        *page_of(DRAFT, "zh").problems,
        *check_shape(page_of(DRAFT, "zh"), ROOT),
    ]
    refused = {p.line: p for p in problems}
    for shown in ("`0.85`", "`12.5%`", "`7`", "`lam = 0.95`", "  $$", "score 0.75"):
        line = next(
            n for n, t in enumerate(LINES, 1) if shown in t and " - 第" not in t
        )
        assert "write" in refused[line].fix or "print" in refused[line].fix
        assert refused[line].expected
    listed = {line: said for line, said in DRAFT.figures.items()}
    assert [said for said in listed.values()] == [
        ["`0.85`", "`12.5%`"],
        ["0.95"],
        ["`lam = 0.95`"],
        ["`7`"],
        ["0.75"],
    ]
    assert listed.keys() <= refused.keys()
    first = LINES.index(next(t for t in LINES if "`12.5%`{" in t)) + 1
    assert f"  - 第 {first} 行：`0.85`, `12.5%`" in LINES


def test_lines_of_code_are_listed_with_what_to_write() -> None:
    said = [(place.path, place.lines) for place in DRAFT.places]
    assert said == [
        ("verl/core_algos.py", "93"),
        ("verl/core_algos.py", "100"),
        ("ray_trainer.py", "774-776"),
        ("core_algos.py", "105"),
    ]
    for place in DRAFT.places:
        row = f"  - 第 {place.line} 行：path: {place.path}, lines: {place.lines}"
        assert row in LINES
        file = place.path.rpartition("/")[2]
        assert file in LINES[place.line - 1]
    (english,) = draft([SORTED[1]]).places
    assert english[1:] == ("verl/a.py", "10-12")


def test_what_is_left_to_do_is_refused_until_it_is_done() -> None:
    found = [p.found for p in check_shape(page_of(DRAFT, "zh"), ROOT)]
    assert "<!--" in found
    assert "## section #chat" in found
    assert "no assertion in section #code" in found
    about = DRAFT.text.split("-->")[0]
    assert "自己的聊天不能当错误回答的出处" in about


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("`a.py:98`~`a.py:103`", [("a.py", "98"), ("a.py", "103")]),
        ("a/b.py#L98-L101", [("a/b.py", "98-101")]),
        ("x.py lines 7 to 9", []),
        ("x.py, lines 7-9", [("x.py", "7-9")]),
        ("core_algos.py第98-101行", [("core_algos.py", "98-101")]),
        ("at 20:15:00, 1:2, V:3", []),
    ],
)
def test_places(said: str, expected: list[tuple[str, str]]) -> None:
    found = [place[1:] for place in places(said)]
    assert found == expected or (said.endswith("to 9") and found == [("x.py", "7")])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (r"`\(x\)` \(x\)", r"`\(x\)` $x$"),
        ("$$\na\n$$\n", "$$\na\n$$\n\n"),
        ("so $$ a $$ is", "so $a$ is"),
        ("costs $5 and $6", "costs $5 and $6"),
        (r"a \\(b\\) c", r"a \\(b\\) c"),
        ("<!-- x --> <b>", "&lt;!-- x --> &lt;b>"),
        ("> quoted, a < b", "> quoted, a &lt; b"),
        ("{t+1} {.x}", "{t+1} &#123;.x}"),
        ('--8<-- "x.py"', '--8&lt;-- "x.py"'),
        ("a\n===\nb", "a\n\n===\nb"),
    ],
)
def test_prose(said: str, expected: str) -> None:
    assert mended(said) == expected


def test_figures_beside_code_and_in_other_scripts() -> None:
    mark = '{ data-is="unverified?" }'
    assert marked("`x`0.5") == f"`x` `0.5`{mark}"
    assert marked("百分之三十，0.5") == f"百分之三十，`0.5`{mark}"
    assert marked("1+1=2，0.1+0.1=0.3") == f"1+1=2，`0.1+0.1=0.3`{mark}"
    assert marked("verl 0.9.1 [0.5](x)") == f"verl 0.9.1 [`0.5`{mark}](x)"


def test_a_fence_left_open_is_closed() -> None:
    found = list(stretches("a\n    ```py\n    x", "en"))
    assert found[1].text.endswith("    x\n    ```\n")


def test_a_fence_closes_where_the_scan_of_a_page_sees_it_close() -> None:
    said = "    ```py\n    x\n> ```\ntext\n"
    assert [part.fenced for part in stretches(said, "en")] == [False, True, False]
    (fence,), problems = scan("".join(p.text for p in stretches(said, "en")), "")
    assert fence.lines == ("x",)
    assert problems == []


HOSTILE = [
    "a\u2028```python\nboom()\n```",
    "\x85```py\nboom()",
    "\x0c",
    "> ```py\n> boom()\n> ```",
    "- ```python\n  boom()\n  ```",
    "    ```py\n    boom()",
    "``` {.python}\nboom()\n```",
    "```{ .python .cont }\nboom()\n```",
    "~~~Python3\nboom()\n~~~",
    "```source\nppo_ref.masking.masked_mean\n```",
    "```output\n0.5\n```",
    "```\nx\n> ```",
    "0.5 | 3\n--|--\n1 | 2",
    *("<!--", "-->", "$", r"\[", r"\]", "`", "# a", "---"),
]
chats = st.lists(st.sampled_from([*HAZARDS, *HOSTILE]), max_size=6).map("\n".join)


@settings(max_examples=25)
@given(chats, chats)
def test_nothing_of_any_chat_runs_or_is_shown_as_checked(
    question: str, answer: str
) -> None:
    made = draft(sort(Log(("", "", ""), (Round(1, 1, f"{question}\n?", answer),))))
    page = page_of(made, "en")
    assert len(page.blocks) == len(page.fences)
    running = [block.text for block in page.blocks if block.runs]
    assert running == ['raise NotImplementedError("assert the answer")']
    assert not [b for b in page.blocks if b.kind in (Kind.SOURCE, Kind.DERIVED)]
    assert page.meta["refs"] == []
    assert {line for line in made.figures} <= {
        p.line for p in [*page.problems, *check_shape(page, ROOT)]
    }


@pytest.mark.slow
@pytest.mark.skipif(
    not DIALOGUES.is_dir(), reason="the dialogues lie beside the project, unpublished"
)
def test_every_question_of_the_five_dialogues_can_be_drafted() -> None:
    made = [
        draft([each])
        for file in sorted(DIALOGUES.glob("*.txt"))
        for each in sort(read(file.read_bytes(), file.name))
    ]
    assert len(made) == 27
    for each in made:
        page = page_of(each, "zh")
        assert [b.text for b in page.blocks if b.runs] == [
            'raise NotImplementedError("assert the answer")'
        ]
        refused = [*page.problems, *check_shape(page, ROOT)]
        assert each.figures.keys() <= {problem.line for problem in refused}
        assert "\\(" not in page.body
        assert "\\[" not in page.body
