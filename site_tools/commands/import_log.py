"""From a chat log to drafts: python -m site_tools import LOG.md."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from site_tools.commands.drafts import in_the_way, store_drafts
from site_tools.commands.talk import Refusal, Talk
from site_tools.logs.drafting import Draft, draft
from site_tools.logs.encoding import Broken
from site_tools.logs.log import Log, write
from site_tools.logs.reading import read
from site_tools.logs.sorting import Kind, Sorted, sort

HELP = "Read a chat log, and write a draft for each of its questions."
EXAMPLES = """\
examples:
  python -m site_tools import log_20260301_201500.md --dry-run
  python -m site_tools import log_20260301_201500.md
The format of a log: docs/en/contribute/dialogue_log.md"""


def options(parser: argparse.ArgumentParser, words: Callable[[str], str]) -> None:
    """Name the arguments."""
    parser.add_argument("log", metavar="LOG", type=Path, help=words("the chat log"))
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=words("only say which questions it has; nothing is written"),
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=Path,
        help=words("a new or empty folder for the drafts, instead of drafts/LOG"),
    )


def run(options: argparse.Namespace, root: Path, talk: Talk) -> int:
    """Read the log, say what it asks, and write the drafts agreed on.

    Raises:
        Refusal: if the log breaks the format, or the drafts have no place.
    """
    log = _read(options.log)
    found = sort(log)
    for each in found:
        talk.tell(_line(each))
    if options.dry_run:
        return 0
    folder = options.out or root / "drafts" / options.log.stem
    if taken := in_the_way(folder):
        raise Refusal(f"{taken} is in the way; move it, or choose another with --out")
    groups = _agreed(found, talk)
    drafts = [draft(group) for group in groups]
    store_drafts(folder, {each.name: each.text for each in drafts}, write(log))
    for written in drafts:
        talk.tell(_written(folder, written))
    return 0


def _read(path: Path) -> Log:
    try:
        return read(path.read_bytes(), str(path))
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}") from None
    except Broken as broken:
        raise Refusal(f"{broken}\nNothing was written.") from None


def _line(each: Sorted) -> str:
    place = f"Question {each.round.number} (line {each.round.line})"
    if each.kind is Kind.QUESTION:
        return f"{place}: {each.title}"
    if each.kind is Kind.FORMAT:
        return f"{place}, a request about format: {each.title}"
    return f"{place}, {each.kind.value} of question {each.earlier}: {each.title}"


def _agreed(found: Sequence[Sorted], talk: Talk) -> list[list[Sorted]]:
    """The rounds of each draft, once the contributor has agreed.

    Raises:
        Refusal: if the contributor does not.
    """
    groups: dict[int, list[Sorted]] = {}
    merged = left_out = 0
    for each in found:
        number = each.round.number
        if each.kind is Kind.FORMAT and talk.ask(
            f"Question {number} asks for a format, not about PPO: leave it out?"
        ):
            left_out += 1
            continue
        home = _home(each, groups)
        if home is not None and talk.ask(
            f"Question {number} belongs to question {home}: one draft for both?"
        ):
            merged += 1
            groups[home].append(each)
            continue
        groups[number] = [each]
    if not groups:
        raise Refusal("No question is left; nothing was written.")
    size, count = len(found), len(groups)
    question = (
        f"{size} questions: write {count} drafts, merge {merged}, leave out {left_out}?"
    )
    if not talk.ask(question):
        raise Refusal("Nothing was written.")
    return list(groups.values())


def _home(each: Sorted, groups: dict[int, list[Sorted]]) -> int | None:
    """The first question of the draft that holds the one a round belongs to."""
    for first, rounds in groups.items():
        if each.earlier in [item.round.number for item in rounds]:
            return first
    return None


def _written(folder: Path, each: Draft) -> str:
    figures = sum(map(len, each.figures.values()))
    return (
        f"{folder / each.name}, unverified: code blocks {each.blocks}, "
        f"figures {figures}, places in code {len(each.places)}"
    )
