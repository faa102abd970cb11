"""check: pages in both languages, by the judgement that the tests use too."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import indent

from site_tools.checks.all import judge, text_of
from site_tools.checks.evidence import check_facts
from site_tools.checks.words import todo
from site_tools.contributing import pages
from site_tools.contributing.talk import LANGUAGES, Talk, data_is_read
from site_tools.page import accord
from site_tools.say import Message, Problem

FORMATS = ("terminal", "github")
# What a workflow command of GitHub may not hold as it is.
DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = DATA | str.maketrans({":": "%3A", ",": "%2C"})


def options(parser: ArgumentParser, talk: Talk) -> None:
    named = talk.text("check_pages")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=named)
    form = talk.text("check_format")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=form)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    names = options.pages or pages.changed(root, talk, "check")
    if not names:
        return 0
    facts = pages.facts_of(names, root)
    ids = dict.fromkeys(pages.page_id(name) for name in names if name not in facts)
    files, concepts = {page: pages.files_of(page, root) for page in ids}, facts.values()
    on_github, problems = options.format == "github", list[Problem]()

    def remark(message: Message) -> None:
        text = talk.of(message)
        talk.show(f"::notice::{text.translate(DATA)}" if on_github else text)

    for found, remarks in _judgements(root, files, dict.fromkeys(concepts)):
        problems += found
        for problem in found:
            talk.show(annotation(problem, talk) if on_github else talk.problem(problem))
        for message in remarks:
            remark(message)
    key = {0: "check_sound", 1: "check_one"}.get(len(problems), "check_several")
    checked = ", ".join([*ids, *(f"facts/{concept}" for concept in concepts)])
    ending = Message(key, {"pages": checked, "count": len(problems)})
    remark(ending)
    if on_github and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        with Path(summary).open("a", encoding="utf-8") as out:
            for language in LANGUAGES:  # boxes, in which nothing is markup
                boxes = (Talk(language).problem(problem) for problem in problems)
                shown = [
                    f"### {ending.text(language)}",
                    *(indent(b, "    ") for b in boxes),
                ]
                out.write("\n\n".join(shown) + "\n\n")
    return 1 if problems else 0


def annotation(problem: Problem, talk: Talk) -> str:
    """The line that puts a problem beside its line of the file on GitHub.

    Where the line is included from a snippet, that is what a contributor changed.
    """
    file, line, remarks = problem.path, str(problem.line), talk.problem(problem)
    if problem.snippet:
        file, _, line = problem.snippet.rpartition(":")
    else:
        remarks = problem.remarks(talk.language)
    title = problem.message.text(talk.language, "found").strip().partition("\n")[0]
    place = f"file={file.translate(PROPERTY)},line={line}"
    return (
        f"::error {place},title={title.translate(PROPERTY)}::{remarks.translate(DATA)}"
    )


def _judgements(
    root: Path, files: dict[str, list[str]], concepts: Iterable[str]
) -> Iterator[tuple[list[Problem], list[Message]]]:
    """The problems of each page and file of facts, and the remarks on it."""
    for page, paths in files.items():
        with data_is_read():
            problems = judge(root, paths)
        yield problems, [*_remarks(root, page, paths)]
    for concept in concepts:
        with data_is_read():
            problems, absent = check_facts(root, f"{concept}.yml")
        yield problems, [Message("facts_unread", {"release": r}) for r in absent]


def _remarks(root: Path, page: str, paths: list[str]) -> Iterator[Message]:
    """What is left to do on a page and fails nothing while it is written."""
    left = [p for path in paths for p in todo(root, path, text_of(root / path))]
    for problem in dict.fromkeys(left):
        values = {"place": problem.place, "what": problem.found}
        yield Message("check_todo", values)
    with suppress(ValueError):  # a lock that cannot be read is among the problems
        state = accord.read(root, page)
        if state.state is not accord.State.ACCORD:
            yield state.message
