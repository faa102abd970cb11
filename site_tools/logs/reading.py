"""Reading a log, strictly: where another marker turns up, the line is refused."""

import re
from datetime import datetime
from typing import NamedTuple

from site_tools.logs.encoding import Broken, decode
from site_tools.logs.log import Log, Round
from site_tools.logs.markers import (
    ASSISTANT,
    HEADING,
    TIME,
    TITLE,
    USER,
    fence_after,
    lines_of,
    markers,
)
from site_tools.problems import Problem

FORM = "contribute/dialogue_log"
NARROW = ASSISTANT.replace("：", ":")
STAMP = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}")
# A heading with a slip in it, if a speaker follows: it would swallow a round.
ALMOST = re.compile(r" {0,3}#{1,6} *问题 *\S* *\n")


class Part(NamedTuple):
    """What stands behind a marker, and the line of the marker."""

    line: int
    text: str


def read(content: bytes, path: str) -> Log:
    """Read a log.

    Args:
        content: The file.
        path: Its name, for the message.

    Raises:
        Broken: at the first line that breaks the format.
    """
    found = _parts(decode(content, path), path)
    rounds = tuple(
        Round(number, head.line, question.text, answer.text)
        for number, (head, question, answer) in enumerate(
            zip(found[3::3], found[4::3], found[5::3], strict=True), 1
        )
    )
    for each in rounds:
        if not each.question.strip():
            empty = f"{USER} with no question behind it"
            fix = "write the question there, or take the round out and number the rest"
            raise Broken(Problem(path, each.line + 1, empty, "a question", fix))
    log = Log((found[0].text, found[1].text, found[2].text), rounds)
    _check_time(log, found[1], path)
    return log


def _parts(text: str, path: str) -> list[Part]:
    due_next = markers()
    due, parts = next(due_next), list[Part]()
    fenced, opened = "", 0
    lines = lines_of(text) or [""]
    for number, line in enumerate(lines, 1):
        follows = lines[number] if number < len(lines) else ""
        if not fenced and line.startswith(due):
            line = line.removeprefix(due)
            parts.append(Part(number, ""))
            due = next(due_next)
        elif _breaks(line, follows, due, fenced, parts):
            raise Broken(_narrow(path, parts, due) or _missing(path, number, line, due))
        before, fenced = fenced, fence_after(line, fenced)
        opened = opened if before else number
        parts[-1] = Part(parts[-1].line, parts[-1].text + line)
    if fenced:
        raise Broken(_open(path, opened, fenced))
    if len(parts) % 3 or len(parts) < 6:
        ended = _missing(path, len(lines), "the end of the file", due)
        raise Broken(_narrow(path, parts, due) or ended)
    return parts


def _breaks(line: str, follows: str, due: str, fenced: str, parts: list[Part]) -> bool:
    if not parts or due == USER:
        return True
    heading = line.startswith(HEADING)
    slip = ALMOST.fullmatch(line) and follows.startswith((USER, "用户:"))
    return not fenced and bool(heading or slip)


def _narrow(path: str, parts: list[Part], due: str) -> Problem | None:
    """The line that would be the answer, were its colon a full-width one."""
    if due != ASSISTANT:
        return None
    for number, line in enumerate(lines_of(parts[-1].text), parts[-1].line):
        if line.startswith(NARROW):
            expected = f"{ASSISTANT} at the start of the answer"
            fix = f"write {ASSISTANT} there, with the full-width colon"
            return Problem(path, number, _short(line), expected, fix)
    return None


def _missing(path: str, line: int, found: str, due: str) -> Problem:
    expected, fix = due.strip(), f"save the log in the format of {FORM}"
    if due == USER:
        expected = f"{USER} at the start of the line below the heading"
        fix = f"write {USER} there, with the full-width colon"
    elif due == ASSISTANT:
        expected = f"a line that starts with {ASSISTANT} before it"
        fix = f"write {ASSISTANT} before the answer, with the full-width colon"
    elif due.startswith(HEADING):
        fix = (
            "number the questions from 1 without a gap, with nothing behind the "
            "number; what only looks like a heading belongs into a code block"
        )
    elif due == TITLE:
        expected = f"a chat log, whose first line is {TITLE.strip()}"
    return Problem(path, line, _short(found), expected, fix)


def _open(path: str, line: int, fenced: str) -> Problem:
    found = f"code opened by {fenced} and never closed"
    fix = f"add a line {fenced} behind the code; the rounds after it were swallowed"
    return Problem(path, line, found, "code that is closed before the log ends", fix)


def _check_time(log: Log, part: Part, path: str) -> None:
    above = part.text[: len(part.text) - len(part.text.lstrip())]
    line = part.line + 1 + (above.count("\n") if log.time else 0)
    try:
        if not STAMP.fullmatch(log.time):
            raise ValueError
        datetime.strptime(log.time, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        expected = f"a time below {TIME.strip()}, as YYYY-MM-DD HH:MM:SS"
        fix = "write when the conversation took place"
        found = _short(log.time) or "no time"
        raise Broken(Problem(path, line, found, expected, fix)) from None


def _short(text: str) -> str:
    line = text.rstrip("\n") or "an empty line"
    return line if len(line) <= 60 else f"{line[:57]}..."
