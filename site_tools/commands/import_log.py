"""From a chat log to drafts: python -m site_tools import LOG.md."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from site_tools.commands.drafts import in_the_way, store_drafts
from site_tools.commands.proposals import agreed
from site_tools.commands.talk import Refusal, Talk
from site_tools.commands.wordings import add_wording
from site_tools.contributing import asked_before, new_names
from site_tools.contributing.likeness import Likeness
from site_tools.data.names import read_names
from site_tools.logs.drafting import Draft, draft
from site_tools.logs.encoding import Broken
from site_tools.logs.log import Log, write
from site_tools.logs.reading import read
from site_tools.logs.sorting import NO_QUESTION, Kind, Sorted, sort
from site_tools.logs.wording import cleaned

HELP = "Read a chat log, and write a draft for each of its questions."
EXAMPLES = """\
examples:
  make import LOG=chat.md ARGS=--dry-run
  make import LOG=chat.md
With --yes what may be merged is merged and what asks for a format is left out; what
is perhaps answered becomes a draft all the same, for only you can say that it is.
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
    known = _known(found, root)
    for each in found:
        talk.tell(_line(each, known[each.round.number]))
    if options.dry_run:
        return 0
    folder = options.out or root / "drafts" / options.log.stem
    if taken := in_the_way(folder):
        raise Refusal(f"{taken} is in the way; move it, or choose another with --out")
    plan = agreed(found, known, talk)
    drafts = [draft(group, known[first]) for first, group in plan.groups.items()]
    if drafts:
        store_drafts(folder, {each.name: each.text for each in drafts}, write(log))
    for written in drafts:
        talk.tell(_written(folder, written))
    titles = {each.round.number: each.title for each in found}
    for number, page in plan.wordings.items():
        _add(number, page, titles[number], root, talk)
    if drafts:
        file = folder / drafts[0].name
        talk.tell(f'Begin a page: make new PAGE=TOPIC/ID ARGS="--draft {file}"')
    return 0


def _known(found: Sequence[Sorted], root: Path) -> dict[int, str | None]:
    search = known_pages(root)
    return {
        each.round.number: None
        if each.kind in NO_QUESTION
        else search(cleaned(each.round.question)[:SEARCHED])
        for each in found
    }


def _add(number: int, page: str, asked: str, root: Path, talk: Talk) -> None:
    """Add a wording; one that cannot be an alias is told, and hinders nothing."""
    try:
        wording = new_names.check_question(asked)
        add_wording(page.partition("#")[0], wording, root, talk)
    except (Refusal, ValueError) as error:
        talk.tell(f"The wording of question {number} was not added: {error}")


def _read(path: Path, talk: Talk) -> Log:
    if path == Path():
        raise Refusal("Name a log, as in make import LOG=chat.md")
    if path.is_dir():
        raise Refusal(f"{path} is a folder; name a log, as in make import LOG=chat.md")
    try:
        return read(path.read_bytes(), str(path))
    except FileNotFoundError:
        raise Refusal(
            f"No file {path}; name a log, as in make import LOG=chat.md"
        ) from None
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
        likeness = Likeness(asked_before.wordings(root), read_names(root))
    except ValueError as error:
        raise Refusal(str(error)) from None

    def search(question: str) -> str | None:
        found = asked_before.answered(likeness.nearest(question))
        return found[0].page if found else None

    return search


def _line(each: Sorted, page: str | None) -> str:
    place = f"Question {each.round.number} (line {each.round.line})"
    if each.kind is Kind.THANKS:
        return f"{place}, no question: {each.title}"
    if each.kind is Kind.FORMAT:
        return f"{place}, a request about format: {each.title}"
    if each.earlier:
        place += f", {each.kind.value} of question {each.earlier}"
    if page:
        place += f", perhaps answered at {page}"
    return f"{place}: {each.title}"


def _written(folder: Path, each: Draft) -> str:
    figures = sum(map(len, each.figures.values()))
    return (
        f"{folder / each.name}, unverified: code blocks {each.blocks}, "
        f"figures {figures}, places in code {len(each.places)}"
    )
