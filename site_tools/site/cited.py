"""How others link to a page: its short address, the comment for a thread."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from site_tools.data.rows import plain
from site_tools.page.blocks import Block
from site_tools.running import evidence
from site_tools.site.navigation import read_answer
from site_tools.site.templates import LINK, fill, words
from site_tools.site.ways import REDIRECTS, SHORT, onward

BINDING = re.compile(r'(?<=`)\{ *data-is="[^"]*" *\}')


def cited(root: Path, path: str, text: str, lang: str) -> str:
    """What the answer box of a page says of citing it, as HTML."""
    page = path.removeprefix(f"docs/{lang}/").removesuffix(".md")
    made, short = "", addresses(root).get(page, "")
    if ".comment" in text:
        blocks, _ = evidence.blocks_of(root, path, text)
        made = comment(read_answer(text, path, path).verdict, blocks, lang)
    return fill("page.cited", lang, short, made) if short or made else ""


def sections(html: str, page: str, root: Path, lang: str) -> str:
    """Put their short addresses into the headings of a page, seen like their links."""
    for place, short in addresses(root).items():
        name, _, anchor = place.partition("#")
        heading = re.search(rf'<h[23] id="{anchor}".*?(?=</h[23]>)', html)
        if anchor and name == page and heading:
            link = fill("page.short_section", lang, short)
            html = html[: heading.end()] + link + html[heading.end() :]
    return html


def addresses(root: Path) -> dict[str, str]:
    """The short address of each place that has one, as ``q/17``."""
    files = [root / file for file in (SHORT, REDIRECTS)]
    return _addresses(*(f.read_text("utf-8") if f.exists() else "" for f in files))


@lru_cache(maxsize=1)  # every page asks for its own
def _addresses(short: str, redirects: str) -> dict[str, str]:
    moves, places = plain(redirects, REDIRECTS) or {}, plain(short, SHORT) or {}
    return {onward(place, moves): number for number, place in places.items()}


def comment(verdict: str, blocks: Sequence[Block], lang: str) -> str:
    """A verdict, the block that shows it and its output, as Markdown for a thread.

    The address comes last, and is added where the page is read.
    """
    block = next((block for block in blocks if "comment" in block.classes), None)
    if block is None or not verdict:
        return ""
    said = LINK.sub(r"\1", BINDING.sub("", verdict))
    stop = "" if said.endswith(tuple("?!？！")) else words(lang)["stop"]
    code = f"```python\n{block.text}\n```\n\n```text\n{block.expects}\n```"
    return f"{said}{stop}\n\n{code}\n\n"
