"""status: what waits for somebody's hand, as on the page about/status."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from site_tools.contributing.talk import Talk, data_is_read
from site_tools.data.facts import concepts, unread
from site_tools.page import accord
from site_tools.runs.make import problems
from site_tools.runs.table import CHARTS, RUNS
from site_tools.say import Message


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Take none."""


def run(options: Namespace, root: Path, talk: Talk) -> int:
    with data_is_read():
        waiting = [state.message for state in accord.waiting(root)]
        runs = [problem.in_line for problem in problems(root, RUNS, CHARTS)]
        parts = {
            "status_translations": waiting,
            "status_facts": [*facts(root)],
            "status_runs": runs,
        }
    for title, rows in parts.items():
        talk.say(title)
        for row in rows or [Message("status_none")]:
            talk.show(f"  {talk.of(row)}")
    return 0


def facts(root: Path) -> Iterator[Message]:
    """The places that somebody has to look up, a line a file."""
    for (name, place), lines in unread(concepts(root)).items():
        text = f"docs/facts/{name}.yml: {place}:{', '.join(lines)}"
        yield Message("as_it_is", {"text": text})
