"""A short page that passes the checks, or one more way to ask on one that is there."""

import argparse
from collections.abc import Callable
from pathlib import Path

from site_tools.commands import candidates
from site_tools.commands.pages import page_id
from site_tools.commands.talk import Refusal, Talk
from site_tools.commands.wordings import add_wording
from site_tools.contributing import asked_before, drafts, new_names, skeleton
from site_tools.contributing.likeness import Known
from site_tools.ledger import store_together
from site_tools.page.page import LANGUAGES

HELP = "write a short page that passes the checks, or add one more way to ask"
EXAMPLES = """Examples:
  make new PAGE=gae/first_token Q="Why is A_0 the largest?"
    searches all questions first; then writes the page and its code, ready to edit
  make new PAGE=gae/first_token Q="..." ARGS="--write both"
    the page in both languages
  make new PAGE=gae/variance Q="Is GAE less noisy?" ARGS=--alias
    no page: adds the wording to one that is there
  make new PAGE=gae/first_token ARGS="--draft drafts/question_01.md"
    begins with what import made of a chat"""


def options(parser: argparse.ArgumentParser, words: Callable[[str], str]) -> None:
    """The page, the question, and in which languages it is written."""
    parser.add_argument("page", metavar="TOPIC/ID", help=words("the id of the page"))
    parser.add_argument(
        "--question", default="", help=words("as you would ask it, on one line")
    )
    parser.add_argument(
        "--write",
        choices=(*LANGUAGES, "both"),
        help=words("which languages to write; that of the question unless given"),
    )
    parser.add_argument(
        "--alias",
        action="store_true",
        help=words("add the question as a wording to a page that is there"),
    )
    parser.add_argument(
        "--anyway",
        action="store_true",
        help=words("write a new page without asking, whatever is near it"),
    )
    parser.add_argument(
        "--draft",
        metavar="FILE",
        help=words("begin with the question and the code of a draft of import"),
    )


def run(options: argparse.Namespace, root: Path, talk: Talk) -> int:
    """Write the files, or say why not.

    Raises:
        Refusal: where the id or the question cannot be taken; nothing is written.
    """
    try:
        return _begin(options, root, talk)
    except ValueError as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        where, why = error.filename, error.strerror
        raise Refusal(f"Nothing was written: {where}: {why}") from None


def _begin(options: argparse.Namespace, root: Path, talk: Talk) -> int:
    draft = _draft(options.draft) if options.draft else drafts.Draft()
    question = new_names.check_question(options.question or draft.question)
    if options.alias:
        return add_wording(options.page, question, root, talk)
    page = page_id(options.page)
    new_names.check_name(page)
    new_names.check_free(page, root)
    known = asked_before.nearest(question, root, talk.language)
    perhaps = candidates.show(known, talk)
    home = None if options.anyway else candidates.home(perhaps, talk)
    if home:
        return add_wording(home, question, root, talk)
    files = _files(page, question, options.write, known, root, draft)
    store_together({root / name: text.encode() for name, text in files.items()})
    talk.tell(f"Written: {', '.join(files)}")
    if options.draft:
        talk.tell(f"   {options.draft} keeps its sentences: nobody has verified them")
    talk.tell("1. Replace every TODO in them by your own words and code.")
    talk.tell(f"2. make check PAGE={page} passes already, and lists the TODO left.")
    talk.tell("3. Then open a pull request: no build of the site lets a TODO through.")
    return 0


def _draft(name: str) -> drafts.Draft:
    try:
        return drafts.read_draft(Path(name).read_bytes().decode("utf-8"), name)
    except UnicodeDecodeError:
        raise ValueError(f"{name} is no draft: it must be UTF-8") from None


def _files(
    page: str,
    question: str,
    write: str | None,
    known: list[Known],
    root: Path,
    draft: drafts.Draft,
) -> dict[str, str]:
    chosen = write or new_names.language_of(question)
    languages = LANGUAGES if chosen == "both" else (chosen,)
    links = skeleton.next_links(page, known, languages, root)
    return skeleton.skeleton(page, question, languages, links, draft)
