"""How others link to a page: its short address, a comment to paste, their threads."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from site_tools.data.dialogues import Thread, read_threads
from site_tools.data.rows import plain
from site_tools.page.blocks import Block
from site_tools.page.files import read_front_matter
from site_tools.page.prose import HEADING
from site_tools.running import evidence
from site_tools.site.navigation import read_answer, title_of
from site_tools.site.templates import LINK, fill, words
from site_tools.site.ways import REDIRECTS, SHORT, onward

FEW = 4  # threads that stand at the end of a page unfolded
BINDING = re.compile(r'(?<=`)\{ *data-is="[^"]*" *\}')


def cited(root: Path, path: str, text: str, lang: str) -> str:
    """What the answer box of a page says of citing it, as HTML."""
    page = path.removeprefix(f"docs/{lang}/").removesuffix(".md")
    made, short = "", addresses(root).get(page, "")
    if ".comment" in text:
        blocks, _ = evidence.blocks_of(root, path, text)
        answer = read_answer(text, path, path)
        made = comment(answer.title, answer.verdict, blocks, lang)
    return fill("page.cited", lang, short, made) if short or made else ""


def sections(html: str, page: str, root: Path, lang: str) -> str:
    """Put their short addresses into the headings of a page, seen like their links."""
    for place, short in addresses(root).items():
        name, _, anchor = place.partition("#")
        if not anchor or name != page:
            continue
        if heading := re.search(rf'<h[23] id="{anchor}".*?(?=</h[23]>)', html):
            link = fill("page.short_section", lang, short)
            html = html[: heading.end()] + link + html[heading.end() :]
    return html


class Answered(NamedTuple):
    """A thread, and the place here that answers it: its page, an anchor, a title."""

    thread: Thread
    page: str = ""
    anchor: str = ""
    title: str = ""


def answered(root: Path, lang: str, of: str = "") -> list[Answered]:
    """Every thread, or those of a page.

    One whose page is not written in this language has no place.
    """
    found = []
    for thread in read_threads(root):
        page, _, anchor = thread.page.partition("#")
        if of and page != of:
            continue
        file = root / "docs" / lang / f"{page}.md"
        if not page or not file.is_file():
            found.append(Answered(thread))
            continue
        text = file.read_text("utf-8")
        front, _ = read_front_matter(text, page)
        known = anchor in (heading["id"] for heading in HEADING.finditer(text))
        found.append(Answered(thread, page, anchor * known, title_of(front)))
    return found


def threads(page: str, root: Path, lang: str) -> str:
    """The threads that a page answers, for its end, as HTML."""
    here = answered(root, lang, page)
    return fill("page.threads", lang, here, FEW) if here else ""


def addresses(root: Path) -> dict[str, str]:
    """The short address of each place that has one, as ``q/17``."""
    files = [root / file for file in (SHORT, REDIRECTS)]
    return _addresses(*(f.read_text("utf-8") if f.exists() else "" for f in files))


@lru_cache(maxsize=1)  # every page asks for its own
def _addresses(short: str, redirects: str) -> dict[str, str]:
    moves, places = plain(redirects, REDIRECTS) or {}, plain(short, SHORT) or {}
    return {onward(place, moves): number for number, place in places.items()}


def comment(title: str, verdict: str, blocks: Sequence[Block], lang: str) -> str:
    """A verdict, the block that shows it and its output, as Markdown for a thread.

    Last comes what was asked, and its address, which is added where the page is read.
    """
    block = next((block for block in blocks if "comment" in block.classes), None)
    if block is None or not verdict:
        return ""
    said = LINK.sub(r"\1", BINDING.sub("", verdict))
    stop = "" if said.endswith(tuple("?!？！")) else words(lang)["stop"]
    code = f"```python\n{block.text}\n```\n\n```text\n{block.expects}\n```"
    return f"{said}{stop}\n\n{code}\n\n{title} "
