"""Reading and writing a log: the same bytes, and a reason for every refusal."""

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from site_tools.logs.encoding import Broken
from site_tools.logs.log import compose, write
from site_tools.logs.reading import read
from site_tools.site import sources
from tests.contributing.invented_log import LOG
from tests.site.test_dialogue_log import DIALOGUES, GOOD, HAZARDS, HEAD, READ, ROOT

STAMPED = HEAD.replace("2026\n", "2026-03-01 20:15:00\n")


def closed(text: str) -> bool:
    """Whether a made-up text opens no code."""
    return "```" not in text and "~~~" not in text


texts = st.lists(
    st.sampled_from([*HAZARDS, r"\(V_t\)", "a\u2028```python", "### 问题二", "\x0c"])
    | st.text("ab #`~-\n\t", max_size=8).filter(closed),
    max_size=4,
).map("\n".join)
questions = texts.map(lambda text: f"{text}\n?")


@given(st.lists(st.tuples(questions, texts), min_size=1, max_size=9), st.booleans())
def test_the_same_bytes_and_every_round(
    said: list[tuple[str, str]], ended: bool
) -> None:
    text = STAMPED
    for number, (question, answer) in enumerate(said, 1):
        text += f"### 问题 {number}\n用户：{question}\n助手：{answer}\n\n---\n\n"
    text = text if ended else text.rstrip("\n")
    log = read(text.encode(), "log.txt")
    assert write(log) == text
    assert [each.question for each in log.rounds] == [f"{q}\n" for q, _ in said]
    lines = text.split("\n")
    for each in log.rounds:
        assert lines[each.line - 1] == f"### 问题 {each.number}"


def test_the_invented_log_has_six_rounds() -> None:
    log = read(LOG.encode(), "log.md")
    assert write(log) == LOG
    assert log.time == "2026-03-01 20:15:00"
    starts = ["@", "```", "好的", "我还", "我看", "请"]
    headings = [f"\n### 问题 {n}\n用户：{at}" for n, at in enumerate(starts, 1)]
    lines = [LOG[: LOG.index(heading)].count("\n") + 2 for heading in headings]
    assert [each.line for each in log.rounds] == lines
    assert log.rounds[5].answer == "<当前回答内容>"
    theirs = READ(LOG)
    assert [each.question for each in log.rounds] == theirs[4::3]
    assert [each.answer for each in log.rounds] == theirs[5::3]


FORMED = GOOD.replace("2026\n", "2026-03-01 20:15:00\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "found", "expected"),
    [
        (FORMED, "", 1, "an empty line", "a chat log, whose first line is # Chat D"),
        ("# Chat", "# My", 1, "# My Dialogue Log", "a chat log"),
        ("# Chat", "\ufeff# Chat", 1, "a BOM before #", "a file that begins with #"),
        (":00\n", ":00\r\n", 4, "a carriage return", "lines that end in LF"),
        (FORMED, FORMED.replace("\n", "\r"), 1, "a carriage return", "lines that end"),
        ("## 对话时间\n", "", 9, "### 问题 1", "## 对话时间"),
        ("## 对话内容", "## 内容", 10, "### 问题 1", "## 对话内容"),
        ("2026-03-01 20:15:00", "", 6, "---", "a time below ## 对话时间"),
        ("2026-03-01 20", "2026-13-01 20", 4, "2026-13-01 20:15:00", "a time below"),
        ("2026-03-01 20", "2026-3-1 20", 4, "2026-3-1 20:15:00", "a time below"),
        ("2026-03-01", "\n昨天", 5, "昨天 20:15:00", "a time below"),
        ("### 问题 1", "### 问题 2", 10, "### 问题 2", "### 问题 1"),
        ("### 问题 2", "### 问题 3", 16, "### 问题 3", "### 问题 2"),
        ("### 问题 2", "### 问题 2  ", 16, "### 问题 2  ", "### 问题 2"),
        ("### 问题 2", "## 问题2", 16, "## 问题2", "### 问题 2"),
        ("### 问题 2", "### 问题 2：", 16, "### 问题 2：", "### 问题 2"),
        ("用户：c", "用户:c", 17, "用户:c", "用户： at the start of the line"),
        ("用户：c", "\n用户：c", 17, "an empty line", "用户： at the start"),
        ("用户：c", "用户： \n", 17, "用户： with no question", "a question"),
        ("助手：b", "b", 16, "### 问题 2", "a line that starts with 助手："),
        ("助手：b", "助手:b", 12, "助手:b", "助手： at the start of the answer"),
        ("助手：d", "助手:d", 18, "助手:d", "助手： at the start of the answer"),
        ("助手：d", "d", 18, "the end of the file", "a line that starts with 助手："),
        ("助手：d\n", "", 17, "the end of the file", "a line that starts with 助手："),
        ("用户：a", "用户：```py", 11, "code opened by ```", "code that is closed"),
        ("助手：d", "助手：d\n~~~~\n~~~", 19, "code opened by ~~~~", "code that is"),
        (FORMED, STAMPED, 9, "the end of the file", "### 问题 1"),
    ],
)  # fmt: skip
def test_each_break_is_refused_with_its_line_and_reason(
    old: str, new: str, line: int, found: str, expected: str
) -> None:
    assert len(read(FORMED.encode(), "log.md").rounds) == 2
    spoilt = FORMED.replace(old, new, 1)
    assert spoilt != FORMED
    with pytest.raises(Broken) as refusal:
        read(spoilt.encode(), "log.md")
    problem = refusal.value.problem
    assert (problem.path, problem.line) == ("log.md", line)
    assert problem.found.startswith(found)
    assert problem.expected.startswith(expected)
    assert problem.fix


def test_bytes_that_are_no_utf_8_are_refused_at_their_line() -> None:
    with pytest.raises(Broken) as refusal:
        read(FORMED.encode("gb18030"), "log.md")
    assert refusal.value.problem.line == 3
    assert "is no UTF-8" in refusal.value.problem.found
    with pytest.raises(Broken, match=r"log\.md:1"):
        read(FORMED.encode("utf-16"), "log.md")


def test_a_heading_that_is_only_text_is_text() -> None:
    text = FORMED.replace("助手：b", "助手：b\n### 问题在哪\n#### 问题 2\n再说")
    assert write(read(text.encode(), "log.md")) == text


@given(st.lists(st.tuples(questions, texts), min_size=1, max_size=4))
def test_what_is_composed_can_be_read(said: list[tuple[str, str]]) -> None:
    text = compose(f"{datetime(2026, 3, 1)}", said)
    assert len(read(text.encode(), "log.md").rounds) == len(said)


def test_a_heading_in_a_page_does_not_count_in_its_log() -> None:
    text = compose("2026-03-01 20:15:00", [("a?", "x\n### 问题 2\ny"), ("b?", "z")])
    first, second = read(text.encode(), "log.md").rounds
    assert first.answer == "x\n\\### 问题 2\ny\n\n---\n\n"
    assert second.question == "b?\n"


@pytest.mark.skipif(
    not DIALOGUES.is_dir(), reason="the dialogues lie beside the project, unpublished"
)
def test_the_five_dialogues_give_their_27_questions_and_the_same_bytes() -> None:
    asked = {d.id: len(d.questions) for d in sources.dialogues(Path(ROOT))}
    found = {}
    for file in sorted(DIALOGUES.glob("*.txt")):
        content = file.read_bytes()
        log = read(content, file.name)
        found[file.name[:3]] = len(log.rounds)
        assert write(log).encode() == content
    assert found == asked
    assert sum(found.values()) == 27
