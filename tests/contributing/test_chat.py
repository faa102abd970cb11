"""A chat log: read strictly, drafted unverified, given back byte for byte."""

import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from site_tools.__main__ import read_options
from site_tools.contributing import chat
from site_tools.contributing.chat import Round, draft, rounds
from site_tools.contributing.formats import read_chats
from site_tools.contributing.log import Broken
from site_tools.contributing.talk import Talk
from site_tools.page.page import Page, read_page
from site_tools.source.blocks import Kind
from tests.contributing.test_dialogue_log import HAZARDS, ROOT
from tests.contributing.trial import command, state
from tests.site.trial_site import write_files

LOG = Path(__file__).with_name("invented_log.md").read_text("utf-8")


def rounds_of(text: str) -> list[Round]:
    (chat,) = read_chats(text.encode(), "log.md")
    return rounds(chat.turns)


ROUNDS = rounds_of(LOG)

# Reading and writing.


def written(some: Sequence[Round]) -> str:
    """The rounds as they stand in a log."""
    texts = [f"### 问题 {r.number}\n用户：{r.question}助手：{r.answer}" for r in some]
    return "".join(texts)


def test_no_byte_of_a_round_is_lost():
    assert LOG.endswith(written(ROUNDS)) and len(ROUNDS) == 6
    assert "### 问题 3\n用户：<question>" in ROUNDS[1].question


START = "# Chat Dialogue Log\n\n## 对话时间\n2026-03-01 20:15:00\n\n## 对话内容\n"
ONE = f"{START}\n### 问题 1\n用户：a\n助手：b\n"


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        (ONE.replace("# Chat Dialogue Log", "# Log").encode(), 1, "# Log"),
        (START.encode(), 6, "the end of the file"),
        (ONE.replace("问题 1", "问题 2").encode(), 8, "### 问题 2"),
        (ONE.replace("用户：", "User: ").encode(), 9, "User: a"),
        (ONE.replace("助手：", "助手:").encode(), 10, "助手:b"),
        (ONE.replace("助手：b\n", "").encode(), 9, "the end of the file"),
        (ONE.replace("用户：a", "用户：").encode(), 9, "用户： with no question"),
        (ONE.replace("20:15", "25:15").encode(), 4, "2026-03-01 25:15"),
        (f"{ONE}```py\nx\n".encode(), 11, "code opened by ```"),
        (f"{ONE}## 问题 2\n用户：c\n".encode(), 11, "## 问题 2"),
    ],
)
def test_the_first_line_that_breaks_the_format_is_named(content, line, found):
    with pytest.raises(Broken) as broken:
        read_chats(content, "log.md")
    problem = broken.value.problem
    assert (problem.path, problem.line) == ("log.md", line)
    assert problem.found.startswith(found)


# Drafts.


def page_of(text: str, language: str) -> Page:
    return read_page(ROOT, f"docs/{language}/gae/drafted.md", text)


FILE = "drafts/a b/question_01.md"


def test_a_draft_has_the_question_and_the_chat_and_says_how_to_go_on():
    chinese, english = (draft(each, FILE) for each in ROUNDS[:2])
    assert chinese.startswith('---\nquestion: "values 为什么要左移一格？"\n---\n')
    for text in (chinese, english):
        assert re.findall(r"(?m)^## .*#([\w-]+) \}$", text)[0] == "chat-asked"
        assert f"make new PAGE=TOPIC/ID Q='{FILE}'" in text
    assert "也许已经答了" not in chinese
    assert "gae/a 也许已经答了：先读那一页。" in draft(ROUNDS[0], FILE, "gae/a")


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
    "```output\n0.5\n```",
    "```\nx\n> ```",
    "0.5 | 3\n--|--\n1 | 2",
    *("<!--", "-->", "$", r"\[", r"\]", "`", "# a", "---"),
]
chats = st.lists(st.sampled_from([*HAZARDS, *HOSTILE]), max_size=6).map("\n".join)


@settings(max_examples=25)
@given(chats, chats)
def test_nothing_of_any_chat_runs_or_is_shown_as_checked(question, answer):
    page = page_of(draft(Round(1, f"{question}\nWhy?", answer), FILE), "en")
    assert len(page.blocks) == len(page.fences)
    assert [b.kind for b in page.blocks] == [Kind.SHOWN, Kind.SHOWN]


# The commands.

GO = "y"


@pytest.fixture(autouse=True)
def log(tmp_path: Path) -> None:
    (tmp_path / "talk_1.md").write_bytes(LOG.encode())


def bring(root: Path, *words: str, says: str = "") -> tuple[int, list[str]]:
    code, said = command(root, "import", str(root / "talk_1.md"), *words, says=says)
    return code, said.splitlines()


def test_a_dry_run_says_one_line_a_question_and_writes_nothing(desk):
    code, said = bring(desk, "--dry-run")
    assert code == 0 and len(said) == 8 and [*state(desk)] == ["talk_1.md"]
    assert said[:4] == [
        "Read as a chat log of this project",
        "Question 1: values 为什么要左移一格？",
        "Question 2: Where do these figures come from?",
        "Question 3: 给出示例",
    ]


def test_every_round_is_a_draft_once_it_is_agreed(desk):
    for says in ("n", ""):
        code, said = bring(desk, says=says)
        assert code == 1 and said[-1].endswith("Nothing was written.")
        assert [*state(desk)] == ["talk_1.md"]
    code, said = bring(desk, says=GO)
    assert code == 0 and "to write: 6. Write them? [y/N]" in said[8]
    names = [f"question_{n:02}.md" for n in range(1, 7)]
    found = {f"drafts/talk_1/{name}" for name in names}
    assert state(desk).keys() == {"talk_1.md", *found}
    assert said[-2].endswith("new PAGE=TOPIC/ID Q=drafts/talk_1/question_01.md")
    assert said[-1].startswith("talk_1.md lies in the project, and git add -A")
    before = state(desk)
    code, said = bring(desk, says=GO)
    assert code == 1 and "is in the way" in said[-1] and state(desk) == before
    kept = (desk / "talk_1.md").rename(desk / "drafts" / "kept.md")
    _, told = command(desk, "import", str(kept), says=GO)
    assert told.splitlines()[-1].endswith("Q=drafts/kept/question_01.md")


def test_what_a_page_perhaps_answers_is_said_in_the_draft(desk, monkeypatch):
    asked = "Where do these figures come from?"
    monkeypatch.setattr(chat, "wordings", lambda root: {"gae/a": [asked.upper()]})
    _, said = bring(desk, says=GO)
    assert f"Question 2, perhaps answered at gae/a: {asked}" in said
    text = (desk / "drafts/talk_1/question_02.md").read_text("utf-8")
    assert "<!--\nPerhaps answered already at gae/a: read that page" in text


def test_a_log_that_cannot_be_read_is_refused(desk):
    for name, told in (("none.md", "No such file"), ("", "Is a directory")):
        assert told in command(desk, "import", str(desk / name))[1]
    (desk / "talk_1.md").write_bytes(LOG.replace("### 问题 5", "### 问题 6").encode())
    code, said = bring(desk, says=GO)
    assert code == 1 and said[-1] == "Nothing was written."
    assert said[:2] == [f"{desk / 'talk_1.md'}:82", "  found:    ### 问题 6"]


PAGE = """---
question: Is two the sum?
---

## It is { #answer }

**Yes.** It is `2.00`{ data-is="total" }, not `x`.

### 问题 9 { #odd }

```{ .python .cont }
--8<-- "gae/sum.py:add"
```
"""
ADDED = "# --8<-- [start:add]\ntotal = 1 + 1\n# --8<-- [end:add]\n"
ANSWER = """## It is

**Yes.** It is 2.00, not `x`.

\\### 问题 9

(continues the code above)

```python
total = 1 + 1
```
"""


@pytest.fixture
def site(desk: Path) -> Path:
    (desk / "mkdocs.yml").symlink_to(ROOT / "mkdocs.yml")
    chinese = PAGE.replace("Is two the sum?", "积是二么？")
    files = {"docs/en/gae/sum.md": PAGE, "docs/zh/gae/product.md": chinese}
    write_files(desk, files | {"snippets/gae/sum.py": ADDED})
    return desk


def test_pages_become_rounds_of_a_log(site):
    pages = ["gae/sum", "docs/en/gae/sum.md"]
    code, text = command(site, "export", *pages)
    found = rounds_of(text)
    assert code == 0 and text.endswith(written(found))
    assert [each.question for each in found] == ["Is two the sum?\n"] * 2
    assert [each.answer for each in found] == [f"{ANSWER}\n---\n\n", ANSWER]
    code, said = command(site, "export", "gae/product")
    assert "No docs/en/gae/product.md, but docs/zh/gae/product.md" in said
    said = command(site, "export", "gae/product", lang="zh")[1]
    assert "用户：积是二么？\n" in said
    (site / "docs/en/gae/sum.md").write_text(f"{PAGE}\n```py {{\n```\n", "utf-8")
    code, said = command(site, "export", "gae/sum")
    assert code == 1 and said.startswith("docs/en/gae/sum.md:15: ")


def test_a_log_is_utf_8_whatever_the_terminal_is_set_to(site, monkeypatch):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    options = read_options(["export", "gae/product"], Talk("zh"))
    assert options.run(options, site, Talk("zh")) == 0
    assert "用户：积是二么？\n" in out.getvalue().decode()
