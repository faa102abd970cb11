"""A log that was read: what stands behind its markers, nothing left out."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from site_tools.logs.markers import HEADING, fence_after, lines_of, markers


@dataclass(frozen=True)
class Round:
    """A question and its answer, as they stand behind ``用户：`` and ``助手：``.

    Args:
        number: Its number in the log, from 1.
        line: Line of ``### 问题 N`` in the log.
        question: The question, to the end of its last line.
        answer: The answer, with all that stands before the next heading.
    """

    number: int
    line: int
    question: str
    answer: str


@dataclass(frozen=True)
class Log:
    """A log.

    Args:
        opening: What stands behind each of the three opening lines.
        rounds: The rounds, in order.
    """

    opening: tuple[str, str, str]
    rounds: tuple[Round, ...]

    @property
    def time(self) -> str:
        """When the conversation took place, as ``YYYY-MM-DD HH:MM:SS``."""
        return self.opening[1].strip().split("\n")[0].strip()


def write(log: Log) -> str:
    """The text of a log: what ``read`` was given, byte for byte."""
    rounds = (("", each.question, each.answer) for each in log.rounds)
    texts = chain(log.opening, *rounds)
    return "".join(
        marker + text for marker, text in zip(markers(), texts, strict=False)
    )


def compose(time: str, rounds: Iterable[tuple[str, str]]) -> str:
    """A new log, in the layout that people read.

    Args:
        time: Of the conversation, as ``YYYY-MM-DD HH:MM:SS``.
        rounds: Questions and answers; a line that would count as a heading of the log
            gets a backslash in front.

    Example:
        >>> log = compose("2026-03-01 20:15:00", [("Why?", "Because.")])
        >>> print(log[log.index("## 对话内容") :])
        ## 对话内容
        <BLANKLINE>
        ### 问题 1
        用户：Why?
        助手：Because.
        <BLANKLINE>
    """
    opening = ("\n", f"{time}\n\n---\n\n", "\n")
    said = [(f"{_plain(q)}\n", f"{_plain(a)}\n") for q, a in rounds]
    between = [(q, f"{a}\n---\n\n") for q, a in said[:-1]] + said[-1:]
    rows = (Round(n, 0, q, a) for n, (q, a) in enumerate(between, 1))
    return write(Log(opening, tuple(rows)))


def _plain(text: str) -> str:
    kept, fenced = "", ""
    for line in lines_of(text.strip("\n")):
        kept += "\\" * (not fenced and line.startswith(HEADING)) + line
        fenced = fence_after(line, fenced)
    return kept
