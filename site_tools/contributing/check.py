"""check: pages in both languages, by the judgement that the tests use too."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from site_tools.contributing import beyond, pages
from site_tools.contributing.annotations import annotations
from site_tools.contributing.talk import Talk
from site_tools.data.facts import WHEELS, check_facts, find_wheel, pinned
from site_tools.judge.all import judge
from site_tools.judge.noticed import check_noticed, check_refutations
from site_tools.judge.words import todo
from site_tools.messages import Message, Problem
from site_tools.page.page import read_page
from site_tools.page.twins import twins_of
from site_tools.source.files import text_of


def check_pages(options: Namespace, root: Path, talk: Talk) -> int:
    names = options.pages or pages.changed(root, talk, "check")
    if not names:
        return 0
    of_moves = [name for name in names if name in pages.MOVES]
    names = [name for name in names if name not in pages.MOVES]
    concepts = pages.facts_of(names, root)
    files = dict[str, list[str]]()
    for name in names:
        if name not in concepts:
            page = pages.page_id(name)
            files[page] = pages.present_files(page, root)
    changed = pages.changed_files(root) if options.annotate else []
    problems = list[Problem]()
    for page, own in files.items():
        of_page = judge(root, own) or _beyond(root, own)
        _tell(talk, of_page, _remarks(root, page, own))
        problems += of_page
    names_of_facts = dict.fromkeys(concepts.values())
    for concept in names_of_facts:
        of_concept, remarks = check_facts(root, f"{concept}.yml")
        _tell(talk, of_concept, remarks)
        problems += of_concept
    if options.annotate:
        for problem in problems:
            for command in annotations(problem, changed, talk.language):
                talk.show(command)
    faults = beyond.check_moves(root)
    for fault in faults:
        talk.show(fault.text(talk.language))
    count = len(problems) + len(faults)
    key = {0: "check_sound", 1: "check_one"}.get(count, "check_several")
    checked = [*files, *(f"facts/{concept}" for concept in names_of_facts), *of_moves]
    talk.say(key, pages=", ".join(checked), count=count)
    return 1 if count else 0


def _beyond(root: Path, paths: list[str]) -> list[Problem]:
    """Problems that the tests and ``make lint`` find in a page that is sound.

    The languages have the same code; its assertions are tried in one of them.
    """
    problems = beyond.check_style(root, paths)
    one = read_page(root, paths[0])
    problems += check_refutations(one)
    problems += check_noticed(one)
    for path in paths:
        problems += beyond.check_setting(root, path)
    problems += beyond.check_order(root, paths)
    return problems


def _tell(talk: Talk, problems: Sequence[Problem], remarks: Iterable[Message]) -> None:
    """Say what there is to say of a page or a concept."""
    for remark in remarks:
        talk.show(remark.text(talk.language))
    for problem in problems:
        talk.show(problem.text(talk.language))


def _remarks(root: Path, page: str, paths: list[str]) -> Iterator[Message]:
    """Remarks on what is left to do, which fails nothing while a page is written."""
    left = list[Problem]()
    for path in paths:
        left += todo(root, path, text_of(root / path))
    for problem in dict.fromkeys(left):
        values = {"place": problem.place, "what": problem.found}
        yield Message("check_todo", values)
    yield from _not_looked_up(root, paths)
    twins = twins_of(root, page)
    if not twins.in_step:
        yield twins.message


def _not_looked_up(root: Path, paths: list[str]) -> Iterator[Message]:
    """Pinned releases that a page refers to, and whose wheels are not here."""
    releases = dict[str, None]()
    for path in paths:
        releases.update(dict.fromkeys(read_page(root, path).refs))
    for release in pinned(root):
        if release in releases and find_wheel(release, root / WHEELS) is None:
            yield Message("facts_unread", {"release": release})
