"""status: what waits for somebody's hand, as on the page about/status."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

from site_tools.checks import accord
from site_tools.checks.shape import SECTIONS, is_question
from site_tools.commands.talk import Refusal, Talk
from site_tools.data.facts import concepts, unread
from site_tools.page.page import LANGUAGES
from site_tools.page.sections import find_section
from site_tools.runs.make import problems
from site_tools.runs.table import CHARTS, RUNS
from site_tools.site import sources

HELP = "what waits: translations, coming questions, facts, sections, stored runs"
EXAMPLES = """examples:
  make status
  make status ARGS=--lang=en"""


def options(parser: ArgumentParser, words: Callable[[str], str]) -> None:
    """Take none."""


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Tell what waits, and how to go on with the first of each kind."""
    try:
        states = accord.waiting(root)
        parts = {
            "Translations": [str(state) for state in states],
            "Questions that are coming": list(coming(root)),
            "Places in frameworks that no test reads again": list(facts(root)),
            "Stored runs": list(stale(root)),
            "Sections that question pages may have": list(sections(root)),
        }
    except ValueError as error:
        raise Refusal(str(error)) from error
    for title, rows in parts.items():
        talk.tell(title)
        for row in rows or ["nothing waits"]:
            talk.show(f"  {talk.words(row)}")
    talk.tell("What you can take up")
    for way in ways(states, parts["Sections that question pages may have"]):
        talk.show(f"  {talk.words(way)}")
    return 0


def coming(root: Path) -> Iterator[str]:
    """The questions of the dialogues whose page is not written yet."""
    for dialogue in sources.dialogues(root):
        for asked in dialogue.questions:
            files = [root / f"docs/{lang}/{asked.page}.md" for lang in LANGUAGES]
            if not any(file.is_file() for file in files):
                yield f"{asked.id} on {asked.page}: {asked.zh}"


def facts(root: Path) -> Iterator[str]:
    """The places that somebody has to look up, a line a file."""
    for (name, place), lines in unread(concepts(root)).items():
        yield f"docs/facts/{name}.yml: {place}:{', '.join(lines)}"


def stale(root: Path) -> Iterator[str]:
    """What ``make runs`` would make anew."""
    for problem in problems(root, RUNS, CHARTS):
        yield f"{problem.path}: {problem.found}; {problem.fix}"


def sections(root: Path) -> Iterator[str]:
    """The sections that a question page could still have."""
    for page in accord.page_ids(root):
        if not is_question(page) or page.startswith("contribute/"):
            continue  # which are about this site, not about PPO
        files = [root / f"docs/{lang}/{page}.md" for lang in LANGUAGES]
        text = next(file for file in files if file.is_file()).read_text(
            "utf-8", errors="replace"
        )
        lacks = [f"#{name}" for name in SECTIONS if find_section(text, name) is None]
        if lacks:
            yield f"{page}: without {', '.join(lacks)}"


def ways(states: list[accord.Accord], incomplete: list[str]) -> Iterator[str]:
    """How to go on with each kind of work, by the first page that waits for it."""
    for state in states[:1]:
        yield f"{state.remedy}; make check PAGE={state.page} says what is wrong"
    for row in incomplete[:1]:
        page = row.partition(":")[0]
        yield f"add a section to {page}, then make check PAGE={page}"
    yield 'ask what nobody has asked: make new PAGE=TOPIC/ID Q="..."'
    yield 'bring a chat log: make import LOG=LOG.md ARGS="--dry-run"'
