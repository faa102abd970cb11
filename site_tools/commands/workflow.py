"""Problems as a workflow on GitHub shows them: at their lines, and in a summary."""

import re
from collections.abc import Callable, Sequence
from textwrap import indent

from site_tools.problems import Problem

DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY = {**DATA, ":": "%3A", ",": "%2C"}
LONGEST_TITLE = 80


def annotation(problem: Problem, words: Callable[[str], str] = str) -> str:
    r"""The line that puts a problem beside its line of the file.

    Example:
        >>> annotation(Problem("a,b.md", 3, "50%\nof", "y", "z")).partition("::  ")[0]
        '::error file=a%2Cb.md,line=3,title=50%25'
    """
    title = _title(words(problem.found))
    file, line, told = problem.path, str(problem.line), problem.remarks(words)
    if problem.snippet:  # where the line is written, and what a contributor changed
        told = f"{problem.place}\n{told}"
        file, _, line = problem.snippet.rpartition(":")
    fields = {"file": file, "line": line, "title": title}
    properties = ",".join(f"{k}={_escaped(v, PROPERTY)}" for k, v in fields.items())
    return f"::error {properties}::{_escaped(told, DATA)}"


def _title(text: str) -> str:
    """The first line; one that is too long ends behind a word."""
    first = text.strip().splitlines()[0]
    if len(first) <= LONGEST_TITLE:
        return first
    return re.sub(r"[ ]?[!-~]*$", "", first[: LONGEST_TITLE - 1]) + "…"


def notice(text: str) -> str:
    """The line that says something without a place.

    Example:
        >>> notice("one" + chr(10) + "::error::two")
        '::notice::one%0A::error::two'
    """
    return f"::notice::{_escaped(text, DATA)}"


def summary(
    title: str, problems: Sequence[Problem], words: Callable[[str], str]
) -> str:
    """A section of the summary in one language: a box in which nothing is markup.

    Args:
        title: What was checked, and how it ended.
        problems: What was found.
        words: Puts a sentence into that language.
    """
    told = [f"{problem.place}\n{problem.remarks(words)}" for problem in problems]
    return (
        "\n\n".join([f"### {words(title)}", *(indent(t, "    ") for t in told)])
        + "\n\n"
    )


def _escaped(text: str, signs: dict[str, str]) -> str:
    return "".join(signs.get(sign, sign) for sign in text)
