"""From pages to a chat log, or the log of drafts as it was: export PAGE..."""

import argparse
import os
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from site_tools.commands.drafts import LOG
from site_tools.commands.pages import files_of, page_id
from site_tools.commands.talk import LANGUAGES, Refusal, Talk
from site_tools.ledger import store
from site_tools.logs.encoding import Broken
from site_tools.logs.log import compose, write
from site_tools.logs.reading import read
from site_tools.page.page import read_page
from site_tools.site.markdown import as_round

HELP = "Write pages as a chat log, or the log that drafts were made from."
EXAMPLES = """\
examples:
  make export PAGE=gae/variance ARGS="gae/inputs --language en -o log.md"
  make export PAGE=drafts/log_20260301_201500"""


def options(parser: argparse.ArgumentParser, words: Callable[[str], str]) -> None:
    """Name the arguments."""
    parser.add_argument(
        "pages",
        nargs="+",
        metavar="PAGE",
        help=words("topic/page, or one folder of drafts"),
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        help=words("language of the pages; that of --lang"),
    )
    parser.add_argument(
        "--time",
        metavar="YYYY-MM-DD HH:MM:SS",
        help=words("time of the log; now unless given"),
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help=words("a new file for the log"),
    )


def run(options: argparse.Namespace, root: Path, talk: Talk) -> int:
    """Write a log to a new file, or to where the output goes.

    Raises:
        Refusal: if there is no such page, or the file exists.
    """
    if options.output and os.path.lexists(options.output):
        raise Refusal(f"{options.output} exists; nothing was written")
    kept = Path(options.pages[0], LOG)
    try:
        if len(options.pages) == 1 and kept.is_file():
            content = write(read(kept.read_bytes(), str(kept))).encode()
        else:
            content = _pages(options, root, options.language or talk.language)
        if options.output:
            store(options.output, content)
            talk.tell(f"Written: {options.output}")
            return 0
    except Broken as broken:
        raise Refusal(broken.problem.remarks(talk.words)) from None
    except OSError as error:
        name = error.filename or options.output
        raise Refusal(f"{name}: {error.strerror}") from None
    _print(content, talk)
    return 0


def _pages(options: argparse.Namespace, root: Path, language: str) -> bytes:
    rounds = []
    for text in options.pages:
        file = f"docs/{language}/{page_id(text)}.md"
        if file not in (found := files_of(text, root)):
            raise Refusal(f"No {file}, but {found[0]}; choose with --language")
        try:
            rounds.append(as_round(read_page(root, file), root))
        except ValueError as error:
            raise Refusal(str(error)) from None
    time = options.time or datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    content = compose(time, rounds).encode()
    read(content, "log.md")
    return content


def _print(content: bytes, talk: Talk) -> None:
    """A log is UTF-8, whatever the terminal is set to."""
    out = talk.out or sys.stdout
    out.flush()
    if hasattr(out, "buffer"):
        out.buffer.write(content)
        out.buffer.flush()
    else:
        out.write(content.decode())
