"""check: pages in both languages, by the judgement that the tests use too."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from site_tools.checks.all import judge, text_of
from site_tools.checks.evidence import check_facts
from site_tools.checks.words import todo
from site_tools.contributing import changes, github
from site_tools.contributing.pages import (
    EXAMPLE,
    FACTS,
    facts_of,
    files_of,
    page_id,
)
from site_tools.contributing.talk import LANGUAGES, Refusal, Talk, data_is_read
from site_tools.page import accord
from site_tools.problems import Problem
from site_tools.say import Message

FORMATS = ("terminal", "github")


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    pages = talk.text("check_pages")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)
    form = talk.text("check_format")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=form)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Check pages, each in both languages at once, and files of facts."""
    names = options.pages or _changed(root, talk)
    facts = facts_of(names, root)
    named = [page_id(name) for name in names if name not in facts]
    pages = {page: files_of(page, root) for page in dict.fromkeys(named)}
    concepts = [*dict.fromkeys(facts.values())]
    if not names:
        return 0
    on_github, problems = options.format == "github", list[Problem]()
    for found, remarks in _judgements(root, pages, concepts):
        problems += found
        for problem in found:
            told = github.annotation(problem, talk) if on_github else None
            talk.show(told or talk.problem(problem))
        for remark in remarks:
            text = talk.of(remark)
            talk.show(github.notice(text) if on_github else text)
    ending = _ending([*pages, *(f"facts/{concept}" for concept in concepts)], problems)
    text = ending.text(talk.language)
    talk.show(github.notice(text) if on_github else text)
    if on_github and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        with Path(summary).open("a", encoding="utf-8") as out:
            for language in LANGUAGES:
                title = ending.text(language)
                out.write(github.summary(title, problems, Talk(language)))
    return 1 if problems else 0


def _judgements(
    root: Path, pages: dict[str, list[str]], concepts: Iterable[str]
) -> Iterator[tuple[list[Problem], list[Message]]]:
    """The problems of each page and file of facts, and the remarks on it."""
    for page, files in pages.items():
        with data_is_read():
            problems = judge(root, files)
        yield problems, [*_remarks(root, page, files)]
    for concept in concepts:
        with data_is_read():
            problems, absent = check_facts(root, f"{concept}.yml")
        yield problems, [Message("facts_unread", {"release": r}) for r in absent]


def _remarks(root: Path, page: str, files: list[str]) -> Iterator[Message]:
    """What is left to do on a page and fails nothing while it is written."""
    left = [p for file in files for p in todo(root, file, text_of(root / file))]
    for problem in dict.fromkeys(left):
        values = {"place": problem.place, "what": problem.found}
        yield Message("check_todo", values)
    with suppress(ValueError):  # a lock that cannot be read is among the problems
        state = accord.read(root, page)
        if state.state is not accord.State.ACCORD:
            yield state.message


def _ending(pages: list[str], problems: list[Problem]) -> Message:
    key = {0: "check_sound", 1: "check_one"}.get(len(problems), "check_several")
    return Message(key, {"pages": ", ".join(pages), "count": len(problems)})


def _changed(root: Path, talk: Talk) -> list[str]:
    """Pages and facts that changed against the main branch; says so if there is none.

    Raises:
        Refusal: where nobody can know.
    """
    try:
        files = changes.changed_files(root)
    except Refusal as error:
        raise Refusal("check_unknown", reason=error, page=EXAMPLE) from None
    if every := changes.shared(files):
        key = "check_shared_several" if every[1:] else "check_shared"
        talk.say(key, file=every[0], count=len(every) - 1)
    texts = {page: _text_of(root, page) for page in accord.page_ids(root)}
    facts = [f for f in files if FACTS.fullmatch(f) and (root / f).is_file()]
    pages = [*changes.pages_of(files, texts), *facts]
    if not pages:
        talk.say("check_unchanged", page=EXAMPLE)
    return pages


def _text_of(root: Path, page: str) -> str:
    files = [root / f"docs/{language}/{page}.md" for language in LANGUAGES]
    return "\n".join(text_of(file) for file in files if file.is_file())
