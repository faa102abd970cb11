"""A chat log as ``contribute/dialogue_log`` describes it, read strictly.

Nothing of a log is lost: what stands behind each marker is kept as it is.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import NamedTuple

from site_tools.problems import Problem, problem
from site_tools.say import Message

TITLE, TIME, CONTENT = "# Chat Dialogue Log\n", "## 对话时间\n", "## 对话内容\n"
USER, ASSISTANT = "用户：", "助手："
HEADING = "### 问题 "
MISSING = {TITLE: "log_no_title", USER: "log_no_user", ASSISTANT: "log_no_assistant"}
FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?!.*`)|~{3,})(?P<info>.*)")
# A heading with a slip in it, if a speaker follows: it would swallow a round.
ALMOST = re.compile(r" {0,3}#{1,6} *问题 *\S* *\n")


class Broken(ValueError):
    """A log that breaks the format, with the problem at its first such line."""

    def __init__(self, path: str, line: int, key: str, **values: object) -> None:
        self.problem: Problem = problem(path, line, key, snippet=None, **values)
        super().__init__(str(self.problem))


class Round(NamedTuple):
    """A question and its answer, with all that stands behind ``用户：`` and ``助手：``.

    ``line`` is that of the heading, ``### 问题 N``.
    """

    number: int
    line: int
    question: str
    answer: str


def compose(time: str, rounds: Iterable[tuple[str, str]]) -> str:
    """A new log of questions and answers, in the layout that people read.

    A line that would count as a heading of the log gets a backslash in front.

    Example:
        >>> log = compose("2026-03-01 20:15:00", [("Why?", "Because.")])
        >>> print(log[log.index("### ") :], end="")
        ### 问题 1
        用户：Why?
        助手：Because.
    """
    texts = [f"用户：{_plain(q)}\n助手：{_plain(a)}\n" for q, a in rounds]
    numbered = (f"{HEADING}{n}\n{text}" for n, text in enumerate(texts, 1))
    opening = f"{TITLE}\n{TIME}{time}\n\n---\n\n{CONTENT}\n"
    return opening + "\n---\n\n".join(numbered)


def _plain(text: str) -> str:
    kept, fence = "", ""
    for line in lines_of(text.strip("\n")):
        kept += "\\" * (not fence and line.startswith(HEADING)) + line
        fence = fence_after(line, fence)
    return kept


def read(content: bytes, path: str) -> list[Round]:
    """The rounds of a log, whose name is for the messages."""
    parts = _parts(_decoded(content, path), path)
    headings, questions, answers = parts[3::3], parts[4::3], parts[5::3]
    rounds = [
        Round(number, heading[0], question[1], answer[1])
        for number, (heading, question, answer) in enumerate(
            zip(headings, questions, answers, strict=True), 1
        )
    ]
    for each in rounds:
        if not each.question.strip():
            raise Broken(path, each.line + 1, "log_question", speaker=USER)
    _check_time(*parts[1], path)
    return rounds


def _check_time(line: int, text: str, path: str) -> None:
    time = text.strip().split("\n")[0].strip()
    with suppress(ValueError):
        if datetime.strptime(time, "%Y-%m-%d %H:%M:%S").isoformat(" ") == time:
            return
    above = text[: len(text) - len(text.lstrip())]
    at = line + 1 + (above.count("\n") if time else 0)
    raise Broken(path, at, "log_time", found=_short(time), heading=TIME.strip())


def _decoded(content: bytes, path: str) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"{content[error.start]:02x}"
        raise Broken(path, line, "log_encoding", byte=byte) from None
    if text.startswith("\ufeff"):
        raise Broken(path, 1, "log_mark")
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        raise Broken(path, line, "log_line_end")
    return text


def _parts(text: str, path: str) -> list[tuple[int, str]]:
    """What stands behind each marker, with the line of the marker."""
    markers = _markers()
    due, parts = next(markers), list[tuple[int, str]]()
    fence, opened = "", 0
    lines = lines_of(text) or [""]
    for number, line in enumerate(lines, 1):
        following = lines[number] if number < len(lines) else ""
        if not fence and line.startswith(due):
            line = line.removeprefix(due)
            parts.append((number, ""))
            due = next(markers)
        elif not parts or due == USER or (not fence and _is_heading(line, following)):
            raise _missing(path, number, line, due, parts)
        before, fence = fence, fence_after(line, fence)
        opened = opened if before else number
        parts[-1] = parts[-1][0], parts[-1][1] + line
    if fence:
        raise Broken(path, opened, "log_fence", fence=fence)
    if len(parts) % 3 or len(parts) < 6:
        raise _missing(path, len(lines), None, due, parts)
    return parts


def _is_heading(line: str, following: str) -> bool:
    slip = ALMOST.fullmatch(line) and following.startswith((USER, "用户:"))
    return line.startswith(HEADING) or bool(slip)


def _missing(
    path: str, line: int, found: str | None, due: str, parts: list[tuple[int, str]]
) -> Broken:
    """The marker that is due, and the line, or the end, that stands in its place."""
    if due == ASSISTANT:  # perhaps it is there, with a colon that is not full-width
        answer = enumerate(lines_of(parts[-1][1]), parts[-1][0])
        narrow = [each for each in answer if each[1].startswith("助手:")]
        line, found = narrow[0] if narrow else (line, found)
    heading = "log_no_heading" if due.startswith(HEADING) else "log_no_line"
    key = MISSING.get(due, heading)
    shown = Message("log_end") if found is None else _short(found)
    return Broken(path, line, key, found=shown, due=due.strip())


def _short(text: str) -> str:
    line = text.strip("\n") or "␤"
    return line if len(line) <= 60 else f"{line[:57]}..."


def _markers() -> Iterator[str]:
    """What must come, in order: three opening lines, then each round's three."""
    yield from (TITLE, TIME, CONTENT)
    for number in count(1):
        yield f"{HEADING}{number}\n"
        yield from (USER, ASSISTANT)


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only LF ends a line, which str.splitlines ignores."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def fence_after(line: str, fence: str) -> str:
    """The fence that is open after a line, or nothing, by the one open before it."""
    match = FENCE.match(line)
    if not match:
        return fence
    if not fence:
        return match["mark"]
    closes = match["mark"].startswith(fence) and not match["info"].strip()
    return "" if closes else fence
