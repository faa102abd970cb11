"""The wrong answers that a page refutes.

Each is a heading with the claim, a paragraph that says what holds instead, a quotation
and a run.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from site_tools.messages import Problem, problem
from site_tools.source.content import Content, Heading
from site_tools.source.fences import Fence

SECTION_OF_WRONG = "wrong-answers"
EMPTY_LINES = re.compile(r"\n\s*\n")
NO_PARAGRAPH = ("!!!", "???", "```", ">", "- ", "|", "$$")


class WrongAnswer(NamedTuple):
    """A claim and what holds instead, in Markdown, who said it, and how its run fails.

    One that no run can refute has the class ``cited``, as in ``{ #wrong-two .cited }``.
    """

    id: str
    claim: str
    source: str
    failure: str
    holds: str
    rows: range
    cited: bool = False


def read_wrong_answers(
    content: Content, path: str
) -> tuple[list[WrongAnswer], list[Problem]]:
    """The entries of the section ``wrong-answers``, and what is wrong with them."""
    section = content.section(SECTION_OF_WRONG)
    if section is None:
        return [], []
    entries: list[WrongAnswer] = []
    problems: list[Problem] = []
    for claim in content.headings:
        if claim.level != 3 or claim.line not in section.rows:
            continue
        entry = WrongAnswer(
            claim.id,
            claim.title,
            _source(content, claim),
            _last_words(content.fences_on(claim.rows)),
            _what_holds(content, claim),
            claim.rows,
            _is_cited(claim),
        )
        entries.append(entry)
        values = {"heading": claim.written.strip(), "claim": claim.title}
        if not claim.id.startswith("wrong-"):
            problems.append(problem(path, claim.line, "wrong_answer_id", **values))
        if not entry.source:
            problems.append(problem(path, claim.line, "wrong_answer_source", **values))
        if not entry.holds:
            problems.append(problem(path, claim.line, "wrong_answer_holds", **values))
    if not entries:
        problems.append(problem(path, section.line, "wrong_answers_none"))
    return entries, problems


def _is_cited(claim: Heading) -> bool:
    attributes = claim.written.rpartition("{")[2].strip(" }")
    return ".cited" in attributes.split()


def _what_holds(content: Content, claim: Heading) -> str:
    """The paragraph right below the claim; "" where something else begins there."""
    first = EMPTY_LINES.split(content.text_of(claim.rows[1:]).strip())[0]
    return "" if first.startswith(NO_PARAGRAPH) else " ".join(first.split())


def _source(content: Content, claim: Heading) -> str:
    for quotation in content.quotations:
        if quotation.line in claim.rows:
            return quotation.source
    return ""


def _last_words(fences: Sequence[Fence]) -> str:
    """The last line that the first block meant to raise prints."""
    for fence, output in pairwise(fences):
        if ".raises" in fence.info and output.info == "output" and output.lines:
            return output.lines[-1].strip()
    return ""
