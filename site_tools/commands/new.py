"""A short page that passes the checks, or one more way to ask on one that is there."""

import argparse
from collections.abc import Callable
from pathlib import Path

from site_tools.commands.pages import files_of, page_id
from site_tools.commands.talk import Refusal, Talk
from site_tools.contributing import aliases, asked_before, new_names, skeleton
from site_tools.contributing.likeness import Known
from site_tools.data import locks
from site_tools.files import store, store_together
from site_tools.source.front_matter import read_front_matter
from site_tools.source.page import LANGUAGES

HELP = "write a short page that passes the checks, or add one more way to ask"
EXAMPLES = """Examples:
  python -m site_tools new gae/first_token --question "Why is A_0 the largest?"
    searches all questions first; then writes the page and its code, ready to edit
  python -m site_tools new gae/first_token --question "..." --write both
    the page in both languages
  python -m site_tools new gae/variance --alias --question "Is GAE less noisy?"
    no page: adds the wording to one that is there"""


def options(parser: argparse.ArgumentParser, words: Callable[[str], str]) -> None:
    """The page, the question, and in which languages it is written."""
    parser.add_argument("page", metavar="TOPIC/ID", help=words("the id of the page"))
    parser.add_argument(
        "--question", required=True, help=words("as you would ask it, on one line")
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


def run(options: argparse.Namespace, root: Path, talk: Talk) -> int:
    """Write the files, or say why not.

    Raises:
        Refusal: where the id or the question cannot be taken; nothing is written.
    """
    try:
        question = new_names.check_question(options.question)
        if options.alias:
            return add_wording(options.page, question, root, talk)
        page = page_id(options.page)
        new_names.check_name(page)
        new_names.check_free(page, root)
        known = asked_before.nearest(question, root)
        for other in asked_before.answered(known):
            if talk.ask(_offer(other)):
                return add_wording(other.page, question, root, talk)
        return _write(page, question, options.write, known, root, talk)
    except ValueError as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        raise Refusal(
            f"Nothing was written: {error.filename}: {error.strerror}"
        ) from None


def _offer(other: Known) -> str:
    answered = f"Already answered at {other.page}: {other.wording}"
    return f"{answered}; add your wording there?"


def add_wording(page: str, question: str, root: Path, talk: Talk) -> int:
    """Add a wording to a page in its own language, and keep the page's lock true.

    Raises:
        Refusal: where there is no such page in the language of the wording.
    """
    language = new_names.language_of(question)
    files = files_of(page, root)
    name = f"docs/{language}/{page_id(page)}.md"
    if name not in files:
        raise Refusal(f"No {name} to add it to; {files[0]} is in the other language")
    before = (root / name).read_bytes().decode("utf-8")
    meta, _ = read_front_matter(before.replace("\r\n", "\n"), name)
    if aliases.has_wording(meta, question):
        talk.tell(f"{name} has this wording already; nothing to add")
        return 0
    try:
        after = aliases.with_alias(before, question)
    except ValueError as error:
        raise Refusal(f"{name}: {error}") from None
    lock = root / locks.lock_path(page_id(page))
    text = lock.read_text("utf-8") if lock.is_file() else ""
    recorded = locks.parse(text, page_id(page))
    kept = aliases.lock_after(recorded, language, before, after)
    store(root / name, after.encode())
    if kept != recorded:
        store(lock, locks.write(kept).encode())
    talk.tell(f"{name}: added to aliases: {question}")
    return 0


def _write(
    page: str,
    question: str,
    write: str | None,
    known: list[Known],
    root: Path,
    talk: Talk,
) -> int:
    chosen = write or new_names.language_of(question)
    languages = LANGUAGES if chosen == "both" else (chosen,)
    links = skeleton.next_links(page, known, languages, root)
    files = skeleton.skeleton(page, question, languages, links)
    store_together({root / name: text.encode() for name, text in files.items()})
    talk.tell(f"Written: {', '.join(files)}")
    for other in known[: skeleton.LINKS]:
        talk.tell(f"   near it: {other.page}: {other.wording}")
    talk.tell("1. Replace every TODO in them by your own words and code.")
    talk.tell(f"2. make check PAGE={page} passes already, and lists the TODO left.")
    talk.tell("3. make test lint build let no TODO through: run them before a request.")
    return 0
