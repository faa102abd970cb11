"""The wrong answers that a page refutes: each a heading with a quotation and a run."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from site_tools.messages import Problem, problem
from site_tools.source.content import Content, Heading
from site_tools.source.fences import Fence

SECTION_OF_WRONG = "wrong-answers"


class WrongAnswer(NamedTuple):
    """A claim, in Markdown, who said it, and how its run fails.

    One that no run can refute has the class ``cited``, as in ``{ #wrong-two .cited }``.
    """

    id: str
    claim: str
    source: str
    failure: str
    cited: bool = False


def read_wrong_answers(
    content: Content, path: str
) -> tuple[list[WrongAnswer], list[Problem]]:
    """The entries of the section ``wrong-answers``, and what is wrong with them."""
    section = content.section(SECTION_OF_WRONG)
    if section is None:
        return [], []
    claims = [h for h in content.headings if h.level == 3 and h.line in section.rows]
    if not claims:
        return [], [problem(path, section.line, "wrong_answers_none")]
    entries: list[WrongAnswer] = []
    problems: list[Problem] = []
    for claim in claims:
        values = {"heading": claim.written.strip(), "claim": claim.title}
        source = _source(content, claim)
        if not claim.id.startswith("wrong-"):
            problems.append(problem(path, claim.line, "wrong_answer_id", **values))
        if not source:
            problems.append(problem(path, claim.line, "wrong_answer_source", **values))
        failure, cited = _last_words(content.fences_on(claim.rows)), _is_cited(claim)
        entries.append(WrongAnswer(claim.id, claim.title, source, failure, cited))
    return entries, problems


def _is_cited(claim: Heading) -> bool:
    attributes = claim.written.rpartition("{")[2].strip(" }")
    return ".cited" in attributes.split()


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
