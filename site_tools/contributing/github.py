"""Problems as a workflow on GitHub shows them: at their lines, and in a summary."""

import re
from collections.abc import Sequence
from textwrap import indent

from site_tools.contributing.talk import Talk
from site_tools.problems import Problem

DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY = {**DATA, ":": "%3A", ",": "%2C"}
LONGEST_TITLE = 80


def annotation(problem: Problem, talk: Talk) -> str:
    r"""The line that puts a problem beside its line of the file.

    Where the line is included from a snippet, that is what a contributor changed.

    Example:
        >>> line = annotation(Problem("a,b.md", 3, "50%\nof", "", ""), Talk())
        >>> line.partition("::  ")[0]
        '::error file=a%2Cb.md,line=3,title=50%25'
    """
    file, line = problem.path, str(problem.line)
    remarks = problem.remarks(talk.language)
    if problem.snippet:
        remarks = talk.problem(problem)
        file, _, line = problem.snippet.rpartition(":")
    title = _title(problem.parts(talk.language)["found"])
    fields = {"file": file, "line": line, "title": title}
    properties = ",".join(f"{k}={_escaped(v, PROPERTY)}" for k, v in fields.items())
    return f"::error {properties}::{_escaped(remarks, DATA)}"


def notice(text: str) -> str:
    """The line that says something without a place.

    Example:
        >>> notice("one" + chr(10) + "::error::two")
        '::notice::one%0A::error::two'
    """
    return f"::notice::{_escaped(text, DATA)}"


def summary(title: str, problems: Sequence[Problem], talk: Talk) -> str:
    """A section of the summary, in boxes in which nothing is markup."""
    boxes = [indent(talk.problem(problem), "    ") for problem in problems]
    return "\n\n".join([f"### {title}", *boxes]) + "\n\n"


def _title(text: str) -> str:
    """The first line; one that is too long ends behind a word."""
    first = text.strip().splitlines()[0]
    if len(first) <= LONGEST_TITLE:
        return first
    return re.sub(r"[ ]?[!-~]*$", "", first[: LONGEST_TITLE - 1]) + "…"


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in text)
