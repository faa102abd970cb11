"""check: pages in both languages, by the judgement that the tests use too."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

from site_tools.checks import accord
from site_tools.checks.all import judge, text_of
from site_tools.checks.unfinished import todo
from site_tools.commands import changes, workflow
from site_tools.commands.facts_named import facts_changed, facts_of, judged_facts
from site_tools.commands.pages import EXAMPLE, files_of, page_id, page_ids
from site_tools.commands.talk import LANGUAGES, Refusal, Talk
from site_tools.problems import Problem

HELP = "check pages in both languages: code, figures, links, structure"
EXAMPLES = """examples:
  make check                          the pages that you changed
  make check PAGE=gae/variance        one page
  make check PAGE=docs/zh/index.md    one page, by its file
  make check PAGE=facts/returns       the facts of a file of docs/facts
  make check ARGS="--format github"   as a workflow on GitHub shows it"""
NAME_ONE = f"name a page, as in: make check PAGE={EXAMPLE}"
FORMATS = ("terminal", "github")


def options(parser: ArgumentParser, words: Callable[[str], str]) -> None:
    """Name the arguments."""
    pages = words("as in gae/variance; those changed against main if none is given")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)
    form = words("how problems are told")
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help=form)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Check pages one after the other, each in both languages at once."""
    named = options.pages or changed(root, talk)
    facts = facts_of(named, root)
    concepts = [*dict.fromkeys(facts.values())]
    names = [page_id(text) for text in named if text not in facts]
    pages = {page: files_of(page, root) for page in dict.fromkeys(names)}
    if not named:
        return 0
    github, problems = options.format == "github", list[Problem]()
    for found, remarks in _judged(root, pages, concepts):
        for problem in found:
            talk.show(_told(problem, github, talk.words))
        problems += found
        for remark in map(talk.words, remarks):
            talk.show(workflow.notice(remark) if github else remark)
    checked = [*pages, *(f"facts/{concept}" for concept in concepts)]
    end = ending(checked, problems)
    talk.show(workflow.notice(talk.words(end)) if github else talk.words(end))
    if github and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        _summarise(Path(summary), end, problems)
    return 1 if problems else 0


def _judged(
    root: Path, pages: Mapping[str, list[str]], facts: Iterable[str]
) -> Iterator[tuple[list[Problem], Iterable[str]]]:
    """The problems of each page and facts file, and the remarks on it."""
    for page, files in pages.items():
        yield judged(root, files), _remarks(root, page, files)
    for concept in facts:
        yield judged_facts(root, concept)


def judged(root: Path, files: list[str]) -> list[Problem]:
    """What is wrong with the files of a page.

    Raises:
        Refusal: where data that every page needs cannot be read.
    """
    try:
        return judge(root, files)
    except ValueError as error:
        raise Refusal(str(error)) from error


def changed(root: Path, talk: Talk) -> list[str]:
    """Pages and facts that changed against the main branch; says so if there is none.

    Raises:
        Refusal: where nobody can know.
    """
    texts = {page: _text(root, page) for page in page_ids(root)}
    try:
        files = changes.changed_files(root)
    except ValueError as error:
        raise Refusal(f"What changed is not known: {error}; {NAME_ONE}") from None
    if every := changes.shared(files):
        more = f"{every[0]} and {len(every) - 1} more" if every[1:] else every[0]
        talk.tell(f"Every page rests on {more}; make test checks them all")
    pages = [*changes.pages_of(files, texts), *facts_changed(files, root)]
    if not pages:
        talk.tell(f"No page changed against the main branch; {NAME_ONE}")
    return pages


def _told(problem: Problem, github: bool, words: Callable[[str], str]) -> str:
    if github:
        return workflow.annotation(problem, words)
    return f"{problem.place}\n{problem.remarks(words)}"


def _summarise(file: Path, end: str, problems: list[Problem]) -> None:
    with file.open("a", encoding="utf-8") as out:
        for language in LANGUAGES:
            out.write(workflow.summary(end, problems, Talk(language).words))


def ending(pages: list[str], problems: list[Problem]) -> str:
    """What was checked, and how it ended, in a line.

    Example:
        >>> ending(["gae/inputs", "index"], [])
        'Checked gae/inputs, index: no problem.'
    """
    count = len(problems)
    end = f"{count} problems" if count > 1 else "1 problem" if count else "no problem"
    return f"Checked {', '.join(pages)}: {end}."


def _remarks(root: Path, page: str, files: list[str]) -> Iterator[str]:
    """What somebody can still do about a page, and fails nothing while it is written.

    What a new page was given to begin with, and how its two languages stand.
    """
    begun = (todo(root, file, text_of(root / file)) for file in files)
    for left in dict.fromkeys(chain.from_iterable(begun)):
        yield f"{left.place}: still to write: {left.found}"
    with suppress(ValueError):  # a lock that cannot be read, which is a problem
        state = accord.read(root, page)
        if state.state is not accord.State.ACCORD:
            yield str(state)


def _text(root: Path, page: str) -> str:
    files = [root / f"docs/{language}/{page}.md" for language in LANGUAGES]
    return "\n".join(text_of(file) for file in files if file.is_file())
