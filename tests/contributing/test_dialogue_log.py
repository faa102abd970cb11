"""The reader of chat logs that the page shows: what it takes and what it refuses."""

import contextlib
import io
import re
import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_tools.data.dialogues import read_dialogues
from site_tools.page.page import read_page
from tests.layout import ROOT

pytestmark = pytest.mark.pages

DIALOGUES = ROOT.parent / "shared" / "dialogues"
HEAD = "# Chat Dialogue Log\n\n## 对话时间\n2026\n\n---\n\n## 对话内容\n\n"
# What may stand in a question or an answer and must not be taken for a marker.
HAZARDS = [
    "words",
    "---",
    "## A heading",
    "```\n### 问题 1\n用户：<question>\n助手：<answer>\n```",
    "````markdown\n```\n### 问题 2\n```\n### 问题 3\n````",
    "~~~\n```\n### 问题 2\n助手：x\n~~~~",
    "```\n```python\n### 问题 2\n```",
    "~~~ a `b`\n### 问题 2\n~~~",
    "   ```\n### 问题 2\n  ```",
    "``` x = 1 ``` on one line",
    "    ``` indented code",
    " 助手：not at the start",
    "",
]


def shown() -> dict[str, Any]:
    """The names that the page's own blocks leave behind, as a reader copies them."""
    page = read_page(ROOT, "docs/en/contribute/dialogue_log.md")
    (copy,) = (c for c in page.copies if "def write(" in c.block.text)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(copy.text, names)
    return names


READ, WRITE = (shown()[name] for name in ("read", "write"))


def rounds(log: str) -> list[tuple[str, str]]:
    parts = READ(log)
    return list(zip(parts[4::3], parts[5::3], strict=True))


texts = st.lists(st.sampled_from(HAZARDS), max_size=4).map("\n".join)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=12), st.booleans())
def test_every_round_comes_back_and_so_do_the_bytes(said, ended):
    log = HEAD
    for number, (question, answer) in enumerate(said, 1):
        log += f"### 问题 {number}\n用户：{question}\n助手：{answer}\n\n---\n\n"
    log = log if ended else log.rstrip("\n")
    found = rounds(log)
    assert [question for question, _ in found] == [f"{q}\n" for q, _ in said]
    for (_, got), (_, answer) in zip(found, said, strict=True):
        assert got.rstrip("\n") == f"{answer}\n\n---"
    assert WRITE(READ(log)) == log


GOOD = f"{HEAD}### 问题 1\n用户：a\n助手：b\n\n---\n\n### 问题 2\n用户：c\n助手：d\n"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (GOOD, "", "line 1: no # Chat Dialogue Log"),
        ("2026\n", "2026\r\n", "line ends: CRLF, not LF"),
        ("## 对话时间\n", "", "line 9: no ## 对话时间"),
        ("### 问题 2", "### 问题 20", "line 16: no ### 问题 2"),
        ("用户：c", "用户:c", "line 17: no 用户："),
        ("助手：b", "b", "line 16: no 助手："),
        ("用户：c", "用户：```", "after line 18: code left open"),
    ],
)
def test_a_log_that_breaks_the_format_is_refused_with_line_and_reason(old, new, reason):
    assert len(rounds(GOOD)) == 2
    with pytest.raises(ValueError) as refusal:
        READ(GOOD.replace(old, new, 1))
    assert str(refusal.value) == reason


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_request_to_copy_makes_a_log_that_can_be_read(language):
    page = (ROOT / f"docs/{language}/contribute/dialogue_log.md").read_text("utf-8")
    blocks = re.findall(r"(?ms)^    ````text\n(.*?)^    ````$", page)
    requests = [textwrap.dedent(block) for block in blocks]
    assert len(requests) == 2
    for request in requests:
        (form,) = re.findall(r"(?ms)^```\n(.*?)^```$", request)
        assert len(rounds(form)) == 2
        before, _ = form.split("### 问题 2\n")
        log = f"{before}### 问题 2\n用户：{request}助手：Saved to `log.md`.\n"
        (_, (question, answer)) = rounds(log)
        assert (question, answer) == (request, "Saved to `log.md`.\n")
        assert WRITE(READ(log)) == log
        unfenced = log.replace(request, request.replace("```\n", ""))
        with pytest.raises(ValueError, match="line 31: no 助手："):
            READ(unfenced)


def test_the_five_dialogues_give_their_27_questions_and_the_same_bytes():
    if not DIALOGUES.is_dir():
        pytest.skip("the dialogues are not published; they lie beside the project")
    asked = {d.id: len(d.questions) for d in read_dialogues(ROOT)}
    logs = {f.name[:3]: f.read_bytes() for f in sorted(DIALOGUES.glob("*.txt"))}
    found = {name: len(rounds(log.decode())) for name, log in logs.items()}
    assert found == asked
    assert all(WRITE(READ(log.decode())).encode() == log for log in logs.values())
