"""From a chat log to drafts: python -m site_tools import LOG.md."""

import argparse
from collections.abc import Callable
from pathlib import Path

from site_tools.commands.drafts import in_the_way, store_drafts
from site_tools.commands.proposals import agreed
from site_tools.commands.talk import Refusal, Talk
from site_tools.contributing import asked_before
from site_tools.contributing.likeness import Likeness
from site_tools.data.derived import all_names
from site_tools.logs.drafting import Draft, draft
from site_tools.logs.encoding import Broken
from site_tools.logs.log import Log, write
from site_tools.logs.reading import read
from site_tools.logs.sorting import Kind, Sorted, sort
from site_tools.logs.wording import cleaned

HELP = "Read a chat log, and write a draft for each of its questions."
EXAMPLES = """\
examples:
  python -m site_tools import log_20260301_201500.md --dry-run
  python -m site_tools import log_20260301_201500.md
The format of a log: docs/en/contribute/dialogue_log.md"""

NOTHING = "Nothing was written."
SEARCHED = 300  # characters of a question


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
    log = _read(options.log, talk)
    found = sort(log)
    search = known_pages(root)
    for each in found:
        talk.tell(_line(each, search(cleaned(each.round.question)[:SEARCHED])))
    if options.dry_run:
        return 0
    folder = options.out or root / "drafts" / options.log.stem
    if taken := in_the_way(folder):
        raise Refusal(f"{taken} is in the way; move it, or choose another with --out")
    groups = agreed(found, talk)
    drafts = [draft(group) for group in groups]
    store_drafts(folder, {each.name: each.text for each in drafts}, write(log))
    for written in drafts:
        talk.tell(_written(folder, written))
    first = folder / drafts[0].name
    talk.tell(f'Begin a page: make new PAGE=TOPIC/ID ARGS="--draft {first}"')
    return 0


def _read(path: Path, talk: Talk) -> Log:
    try:
        return read(path.read_bytes(), str(path))
    except OSError as error:
        raise Refusal(f"{path} cannot be read: {error.strerror}") from None
    except Broken as broken:
        problem = broken.problem
        remarks, nothing = problem.remarks(talk.words), talk.words(NOTHING)
        raise Refusal("\n".join([problem.place, remarks, nothing])) from None


def known_pages(root: Path) -> Callable[[str], str | None]:
    """The search for the page that answers a question already.

    Raises:
        Refusal: if a page of the site cannot be read.
    """
    try:
        likeness = Likeness(asked_before.wordings(root), all_names())
    except ValueError as error:
        raise Refusal(str(error)) from None

    def search(question: str) -> str | None:
        found = asked_before.answered(likeness.nearest(question))
        return found[0].page if found else None

    return search


def _line(each: Sorted, page: str | None) -> str:
    place = f"Question {each.round.number} (line {each.round.line})"
    if each.kind is Kind.FORMAT:
        return f"{place}, a request about format: {each.title}"
    if each.earlier:
        place += f", {each.kind.value} of question {each.earlier}"
    if page:
        place += f", already answered at {page}"
    return f"{place}: {each.title}"


def _written(folder: Path, each: Draft) -> str:
    figures = sum(map(len, each.figures.values()))
    return (
        f"{folder / each.name}, unverified: code blocks {each.blocks}, "
        f"figures {figures}, places in code {len(each.places)}"
    )
