"""The project's own format of a chat log: read strictly, and written.

The page ``contribute/dialogue_log`` says what it is.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import count, pairwise
from typing import NamedTuple

from site_tools.messages import Message, problem

TITLE = "# Chat Dialogue Log\n"
LOG_TIME = "## 对话时间\n"
CONTENT = "## 对话内容\n"
LOG_HEADING = "### 问题 "
USER = "用户："
ASSISTANT = "助手："
FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?!.*`)|~{3,})(?P<info>.*)")
# A heading with a slip in it, if a speaker follows: it would swallow a round.
SLIP = re.compile(r" {0,3}#{1,6} *问题 *\S* *\n(?=用户[：:])")


class Broken(ValueError):
    """A chat that cannot be read, with the problem at its first such line."""

    def __init__(self, path: str, line: int, key: str, /, **values: object) -> None:
        self.problem = problem(path, line, key, snippet=None, path=path, **values)
        super().__init__(str(self.problem))


class Turn(NamedTuple):
    """The words of one side, as they stand in the file."""

    asks: bool
    text: str


def is_log(text: str) -> bool:
    first = f"\n{LOG_HEADING}1\n" in text.partition("\n```")[0]
    return text.lstrip().startswith(TITLE.strip()) or first


def read_log(text: str, path: str) -> list[Turn]:
    """The turns of a log; nothing that stands behind a marker is lost."""
    parts = _log_parts(text, path)
    line, below = parts[1]
    time = below.strip().partition("\n")[0].strip()
    try:
        datetime.strptime(time, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        values = {"found": shortened(time), "heading": LOG_TIME.strip()}
        raise Broken(path, line + 1, "log_time", **values) from None
    turns = []
    for asked, answered in zip(parts[4::3], parts[5::3], strict=True):
        line, question = asked
        _, answer = answered
        if not question.strip():
            raise Broken(path, line, "log_question", speaker=USER)
        turns.append(Turn(True, question))
        turns.append(Turn(False, answer))
    return turns


def _log_parts(text: str, path: str) -> list[tuple[int, str]]:
    """The text behind each marker, with the line of the marker."""
    markers = _markers()
    due, parts = next(markers), list[tuple[int, str]]()
    fence, opened = "", 0
    lines = lines_of(text)
    for number, (line, following) in enumerate(pairwise([*lines, ""]), 1):
        narrow = line.startswith(due.replace("：", ":"))
        heading = line.startswith(LOG_HEADING) or SLIP.match(line + following)
        if not fence and line.startswith(due):
            line = line.removeprefix(due)
            parts.append((number, ""))
            due = next(markers)
        elif not parts or due == USER or (not fence and (narrow or heading)):
            raise _missing(path, number, shortened(line), due)
        before, fence = fence, fence_after(line, fence)
        opened = opened if before else number
        parts[-1] = parts[-1][0], parts[-1][1] + line
    if fence:
        raise Broken(path, opened, "log_fence", fence=fence)
    if len(parts) % 3 or len(parts) < 6:
        raise _missing(path, len(lines), Message("log_end"), due)
    return parts


def _missing(path: str, line: int, found: object, due: str) -> Broken:
    return Broken(path, line, "log_marker", found=found, due=due.strip())


def _markers() -> Iterator[str]:
    """The markers in their order: three opening lines, then each round's three."""
    yield from (TITLE, LOG_TIME, CONTENT)
    for number in count(1):
        yield f"{LOG_HEADING}{number}\n"
        yield from (USER, ASSISTANT)


def compose(time: str, rounds: Iterable[tuple[str, str]]) -> str:
    """A new log of questions and answers, in the layout that people read."""
    numbered = []
    for number, (question, answer) in enumerate(rounds, 1):
        asked = f"{USER}{_escaped(question)}\n"
        answered = f"{ASSISTANT}{_escaped(answer)}\n"
        numbered.append(f"{LOG_HEADING}{number}\n{asked}{answered}")
    opening = f"{TITLE}\n{LOG_TIME}{time}\n\n---\n\n{CONTENT}\n"
    return opening + "\n---\n\n".join(numbered)


def _escaped(text: str) -> str:
    """A line that would count as a heading of the log gets a backslash in front."""
    escaped, fence = "", ""
    for line in lines_of(text.strip("\n")):
        if not fence and line.startswith(LOG_HEADING):
            escaped += "\\"
        escaped += line
        fence = fence_after(line, fence)
    return escaped


# Lines and fences of any chat.


def shortened(text: str) -> str:
    line = text.strip("\n") or "␤"
    return line if len(line) <= 60 else f"{line[:57]}..."


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
