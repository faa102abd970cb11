"""export: pages as a chat log, or the log of drafts as it was."""

import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import datetime
from pathlib import Path

from site_tools.contributing.chat import LOG
from site_tools.contributing.chat_log import Broken, compose, read, write
from site_tools.contributing.pages import files_of, page_id
from site_tools.contributing.talk import Refusal, Talk, data_is_read, why
from site_tools.ledger import store
from site_tools.page.page import read_page
from site_tools.say import LANGUAGES
from site_tools.site.markdown import as_round


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    pages, language = talk.text("export_pages"), talk.text("export_language")
    parser.add_argument("pages", nargs="+", metavar="PAGE", help=pages)
    parser.add_argument("--language", choices=LANGUAGES, help=language)
    stamp, time = "YYYY-MM-DD HH:MM:SS", talk.text("export_time")
    parser.add_argument("--time", metavar=stamp, help=time)
    output = talk.text("export_output")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=output)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Write a log to a new file, or to where the output goes.

    Raises:
        Refusal: if there is no such page, or the file exists.
    """
    if options.output and os.path.lexists(options.output):
        raise Refusal("export_exists", file=options.output)
    kept = Path(options.pages[0], LOG)
    try:
        if len(options.pages) == 1 and kept.is_file():
            content = write(read(kept.read_bytes(), str(kept))).encode()
        else:
            content = _pages(options, root, options.language or talk.language)
        if options.output:
            store(options.output, content)
            talk.say("export_written", file=options.output)
            return 0
    except Broken as broken:
        talk.show(broken.problem.remarks(talk.language))
        raise Refusal("nothing_written") from None
    except OSError as error:
        file = error.filename or options.output
        raise Refusal("unwritable", path=file, reason=why(error)) from None
    out = talk.out or sys.stdout
    out.flush()
    if hasattr(out, "buffer"):  # a log is UTF-8, whatever the terminal is set to
        out.buffer.write(content)
        out.buffer.flush()
    else:
        out.write(content.decode())
    return 0


def _pages(options: Namespace, root: Path, language: str) -> bytes:
    rounds = []
    for text in options.pages:
        file = f"docs/{language}/{page_id(text)}.md"
        if file not in (present := files_of(text, root)):
            raise Refusal("export_other_language", file=file, present=present[0])
        with data_is_read():
            rounds.append(as_round(read_page(root, file), root))
    time = options.time or datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    content = compose(time, rounds).encode()
    read(content, "log.md")
    return content
