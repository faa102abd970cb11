"""check: pages in both languages, by the judgement that the tests use too."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from site_tools.checks.all import judge, text_of
from site_tools.checks.words import todo
from site_tools.contributing import pages
from site_tools.contributing.talk import Talk, data_is_read
from site_tools.data.facts import check_facts
from site_tools.page import accord
from site_tools.say import Message, Problem


def options(parser: ArgumentParser, talk: Talk) -> None:
    named = talk.text("check_pages")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=named)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    names = options.pages or pages.changed(root, talk, "check")
    if not names:
        return 0
    facts = pages.facts_of(names, root)
    ids = dict.fromkeys(pages.page_id(name) for name in names if name not in facts)
    files, concepts = {page: pages.files_of(page, root) for page in ids}, facts.values()
    problems = list[Problem]()
    for found, remarks in _judgements(root, files, dict.fromkeys(concepts)):
        problems += found
        for message in remarks:
            talk.show(talk.of(message))
        for problem in found:
            talk.show(talk.problem(problem))
    key = {0: "check_sound", 1: "check_one"}.get(len(problems), "check_several")
    checked = ", ".join([*ids, *(f"facts/{concept}" for concept in concepts)])
    talk.say(key, pages=checked, count=len(problems))
    return 1 if problems else 0


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
