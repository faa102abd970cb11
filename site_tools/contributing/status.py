"""status: what waits for somebody's hand, as on the page about/status."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from site_tools.checks.shape import SECTIONS, is_question
from site_tools.contributing.talk import Talk, data_is_read
from site_tools.data.dialogues import read_dialogues
from site_tools.data.facts import concepts, unread
from site_tools.page import accord
from site_tools.page.prose import find_section
from site_tools.runs.make import problems
from site_tools.runs.table import CHARTS, RUNS
from site_tools.say import LANGUAGES, Message


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Take none."""


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Say what waits."""
    with data_is_read():
        waiting = [state.message for state in accord.waiting(root)]
        runs = [problem.in_line for problem in problems(root, RUNS, CHARTS)]
        parts = {
            "status_translations": waiting,
            "status_coming": [*coming(root, talk.language)],
            "status_facts": [*facts(root)],
            "status_runs": runs,
            "status_sections": [*sections(root)],
        }
    for title, rows in parts.items():
        talk.say(title)
        for row in rows or [Message("status_none")]:
            talk.show(f"  {talk.of(row)}")
    return 0


def coming(root: Path, language: str) -> Iterator[Message]:
    """The questions of the dialogues whose page is not written yet."""
    pages = {*accord.page_ids(root)}
    for dialogue in read_dialogues(root):
        for asked in dialogue.questions:
            if asked.page not in pages:
                words = asked.zh if language == "zh" else asked.en
                values = {"question": asked.id, "page": asked.page, "words": words}
                yield Message("status_question", values)


def facts(root: Path) -> Iterator[Message]:
    """The places that somebody has to look up, a line a file."""
    for (name, place), lines in unread(concepts(root)).items():
        text = f"docs/facts/{name}.yml: {place}:{', '.join(lines)}"
        yield Message("as_it_is", {"text": text})


def sections(root: Path) -> Iterator[Message]:
    """The sections that a page about PPO with a question could still have."""
    for page in accord.page_ids(root):
        if not is_question(page) or page.startswith("contribute/"):
            continue
        files = [root / f"docs/{lang}/{page}.md" for lang in LANGUAGES]
        file = next(file for file in files if file.is_file())
        text = file.read_text("utf-8", errors="replace")
        lacks = [f"#{name}" for name in SECTIONS if find_section(text, name) is None]
        if lacks:
            values = {"page": page, "sections": ", ".join(lacks)}
            yield Message("status_section", values)
