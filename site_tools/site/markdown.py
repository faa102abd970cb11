"""A page as plain Markdown: what readers see, with nothing left to resolve."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

from site_tools.page.blocks import Block, Kind
from site_tools.page.fences import OPENING
from site_tools.page.files import FRONT_MATTER
from site_tools.page.page import Page
from site_tools.page.pictures import PICTURE
from site_tools.page.prose import parts
from site_tools.say import Refusal
from site_tools.site.lists import derived
from site_tools.site.templates import words

NAMES = {
    Kind.RUN: "python",
    Kind.NORUN: "python",
    Kind.SOURCE: "python",
    Kind.OUTPUT: "output",
    Kind.DERIVED: "text",
}
END_OF_LINE = re.compile(r"</(?:p|tr|li|h\d|caption|div)>")
Resolve = Callable[[str], str]


def as_round(page: Page, root: Path) -> tuple[str, str]:
    """The question of a page, and the page as its answer, as in the log of a chat."""
    question = page.meta.get("question", page.meta.get("title"))
    if not isinstance(question, str):
        raise Refusal("page_without_title", path=page.path)
    return question, as_markdown(page, root)


def as_markdown(page: Page, root: Path, resolve: Resolve | None = None) -> str:
    """A page without its marks: a bound figure is what it shows, headings have no ids.

    Includes are resolved, and lists made from data are there as text. Where it is told
    where links lead from the text, a picture is its description, and a block says how
    it runs.
    """
    if len(page.blocks) < len(page.fences):
        raise ValueError(page.problems[0])
    text = page.text
    for start, end, shown in sorted(_cuts(page, resolve), reverse=True):
        text = text[:start] + shown + text[end:]
    lines = text.split("\n")
    for block in reversed(page.blocks):
        first = block.fence.line - 1
        last = first + len(block.fence.lines) + 2
        notes = [*_notes(block, page.language)] if resolve else []
        lines[first:last] = _fence(block, lines[first], root, notes)
    return FRONT_MATTER.sub("", "\n".join(lines)).strip("\n")


def _cuts(page: Page, resolve: Resolve | None) -> Iterator[tuple[int, int, str]]:
    """What stands otherwise in the prose, by offsets; lines stay where they are."""
    pictures = [*PICTURE.finditer(page.body)] if resolve else []
    for picture in pictures:
        shown = words(page.language)["llms"]["picture"].format(picture["alt"])
        yield picture.start(), picture.end(), shown
    for part in parts(page.body):
        if part.kind == "code" and "data-is" in (part.attributes or ""):
            yield part.start, part.end, part.text
        elif part.kind == "attributes":
            blanks = re.search(r"[ ]*\Z", page.body[: part.start])
            yield part.start - len(blanks[0] if blanks else ""), part.end, ""
        elif part.kind == "target" and resolve:
            in_picture = any(p.start() < part.start < p.end() for p in pictures)
            if not in_picture:
                yield part.start, part.end, f"({resolve(part.text)})"


def _notes(block: Block, lang: str) -> Iterator[str]:
    """How a block runs, where readers of the site see it at the box."""
    w = words(lang)["llms"]
    yield from (w[kind] for kind in ("cont", "raises") if kind in block.classes)
    if block.reason:
        yield w["not_run"].format(block.reason)


def _fence(block: Block, opening: str, root: Path, notes: list[str]) -> list[str]:
    language, attributes = block.fence.header
    name = NAMES.get(block.kind, language)
    code = [line.text for line in block.lines]
    if block.kind is Kind.DERIVED:
        lang = attributes.values.get("data-language", "")
        code = _text(derived(language, block.text, lang, root)).splitlines()
    longest = max(map(len, re.findall("`{3,}", "\n".join(code))), default=2)
    mark = "`" * (longest + 1)
    match = OPENING.match(opening)
    prefix = match["prefix"] if match else ""
    above = [" ".join(notes), ""] if notes else []
    rows = [*above, f"{mark}{name}", *code, mark]
    return [f"{prefix}{row}".rstrip() for row in rows]


def _text(html: str) -> str:
    text = re.sub("<[^>]*>", " ", END_OF_LINE.sub("\n", html))
    rows = (" ".join(row.split()) for row in unescape(text).split("\n"))
    return "\n".join(filter(None, rows))
