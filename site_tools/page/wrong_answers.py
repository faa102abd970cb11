"""The wrong answers that a page refutes, read so that one list of all can follow."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from site_tools.page.fences import Fence
from site_tools.page.prose import QUOTE, line_of
from site_tools.page.sections import find_section
from site_tools.problems import Problem, problem

ENTRY = re.compile(
    r"^### (?P<claim>.*?)[ ]*(?:\{[^}\n]*#(?P<id>[\w-]+)[^}\n]*\})?[ ]*$", re.M
)
PREFIX = "wrong-"


class WrongAnswer(NamedTuple):
    """A claim, in Markdown, who said it, and how its run fails."""

    id: str
    claim: str
    source: str
    failure: str


def read_wrong_answers(
    body: str, fences: Sequence[Fence], path: str
) -> tuple[list[WrongAnswer], list[Problem]]:
    """The entries of the section ``wrong-answers``, and what keeps one from being it.

    Args:
        body: The page with front matter and fences blanked (``prose.body``).
        fences: Its fences.
        path: Its path, for the messages.
    """
    section = find_section(body, "wrong-answers")
    if section is None:
        return [], []
    start, end = section.span("text")
    headings = list(ENTRY.finditer(body, start, end))
    if not headings:
        return [], [problem(path, line_of(body, section.start()), "wrong_answers_none")]
    ends = [*(heading.start() for heading in headings[1:]), end]
    entries: list[WrongAnswer] = []
    problems: list[Problem] = []
    for heading, last in zip(headings, ends, strict=True):
        quote = QUOTE.search(body, heading.end(), last)
        problems += _problems(heading, quote, line_of(body, heading.start()), path)
        lines = range(line_of(body, heading.start()), line_of(body, last))
        inside = [fence for fence in fences if fence.line in lines]
        source = quote["source"] if quote else ""
        name, claim = heading["id"] or "", heading["claim"]
        entries.append(WrongAnswer(name, claim, source, _failure(inside)))
    return entries, problems


def _problems(
    heading: re.Match[str], quote: re.Match[str] | None, line: int, path: str
) -> Iterator[Problem]:
    if not (heading["id"] or "").startswith(PREFIX):
        values = {"heading": heading[0].strip(), "claim": heading["claim"]}
        yield problem(path, line, "wrong_answer_id", **values)
    if quote is None:
        yield problem(path, line, "wrong_answer_source", heading=heading[0].strip())


def _failure(fences: Sequence[Fence]) -> str:
    """The last line that the first block meant to raise prints."""
    for fence, output in pairwise(fences):
        if _is(fence, "raises") and _is(output, "output") and output.lines:
            return output.lines[-1].strip()
    return ""


def _is(fence: Fence, name: str) -> bool:
    try:
        language, attributes = fence.header
    except ValueError:  # a problem of its own, where blocks are read
        return False
    return name in (language, *attributes.classes)
