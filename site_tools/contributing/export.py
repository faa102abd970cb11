"""export: pages as a chat log, or the log of drafts as it was."""

import sys
from argparse import ArgumentParser, Namespace
from datetime import datetime
from pathlib import Path

from site_tools.contributing.chat import LOG
from site_tools.contributing.chat_log import Broken, compose, read
from site_tools.contributing.pages import files_of, page_id
from site_tools.contributing.talk import Refusal, Talk, data_is_read
from site_tools.page.page import read_page
from site_tools.site.markdown import as_round


def options(parser: ArgumentParser, talk: Talk) -> None:
    """Name the arguments."""
    pages = talk.text("export_pages")
    parser.add_argument("pages", nargs="+", metavar="PAGE", help=pages)


def run(options: Namespace, root: Path, talk: Talk) -> int:
    """Write a log to where the output goes."""
    first = Path(options.pages[0], LOG)
    try:
        if len(options.pages) == 1 and first.is_file():
            content = first.read_bytes()
            read(content, str(first))
            log = content.decode()
        else:
            rounds = [_round(page, root, talk.language) for page in options.pages]
            log = compose(datetime.now().strftime("%Y-%m-%d %H:%M:%S"), rounds)
    except Broken as broken:
        talk.show(talk.problem(broken.problem))
        raise Refusal("nothing_written") from None
    out = talk.out or sys.stdout
    if hasattr(out, "buffer"):  # a log is UTF-8, whatever the terminal is set to
        out.flush()
        out.buffer.write(log.encode())
        out.buffer.flush()
    else:
        out.write(log)
    return 0


def _round(text: str, root: Path, language: str) -> tuple[str, str]:
    file = f"docs/{language}/{page_id(text)}.md"
    if file not in (present := files_of(text, root)):
        raise Refusal("export_other_language", file=file, present=present[0])
    with data_is_read():
        return as_round(read_page(root, file), root)
