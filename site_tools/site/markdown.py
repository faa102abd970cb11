"""A page as a round of a log: what readers see, in plain Markdown."""

import re
from html import unescape
from pathlib import Path

from site_tools.page.blocks import Block, Kind
from site_tools.page.fences import OPENING
from site_tools.page.package_source import source
from site_tools.page.page import Page
from site_tools.page.prose import FRONT_MATTER, HEADING, parts
from site_tools.site.lists import derived

HEADING_ID = re.compile(r"[ ]*\{[^}\n]*#[\w-]+[^}\n]*\}$")
NAMES = {
    Kind.RUN: "python",
    Kind.NORUN: "python",
    Kind.SOURCE: "python",
    Kind.SESSION: "pycon",
    Kind.OUTPUT: "output",
    Kind.DERIVED: "text",
}
END_OF_LINE = re.compile(r"</(?:p|tr|li|h\d|caption|div)>")


def as_round(page: Page, root: Path) -> tuple[str, str]:
    """The question of a page, and the page as its answer.

    Includes are resolved, a bound figure is what it shows, headings have no ids.

    Args:
        page: The page.
        root: The project's folder.

    Raises:
        ValueError: if a fence of the page cannot be read.
    """
    question = page.meta.get("question", page.meta.get("title"))
    if not isinstance(question, str):
        raise ValueError(f"{page.path}: must have a question or a title, got neither")
    if len(page.blocks) < len(page.fences):
        raise ValueError("\n".join(map(str, page.problems)))
    lines = _without_marks(page).split("\n")
    for block in reversed(page.blocks):
        first = block.fence.line - 1
        last = first + len(block.fence.lines) + 2
        lines[first:last] = _fence(block, lines[first], root)
    return question, FRONT_MATTER.sub("", "\n".join(lines)).strip("\n")


def _without_marks(page: Page) -> str:
    """The page with shown figures and bare headings; its lines stay where they are."""
    cuts = [
        (part.start, part.end, part.text)
        for part in parts(page.body)
        if part.kind == "code" and "data-is" in (part.attributes or "")
    ]
    for match in HEADING.finditer(page.body):
        if found := HEADING_ID.search(match[0]):
            start = match.start() + found.start()
            cuts.append((start, match.end(), ""))
    text = page.text
    for start, end, shown in sorted(cuts, reverse=True):
        text = text[:start] + shown + text[end:]
    return text


def _fence(block: Block, opening: str, root: Path) -> list[str]:
    language, attributes = block.fence.header
    name = NAMES.get(block.kind, language)
    code = [line.text for line in block.lines]
    if block.kind is Kind.SOURCE:
        code = source(block.text).splitlines()
    if block.kind is Kind.DERIVED:
        lang = attributes.values.get("data-language", "")
        code = _words(derived(language, block.text, lang, root)).splitlines()
    longest = max(map(len, re.findall("`{3,}", "\n".join(code))), default=2)
    mark = "`" * (longest + 1)
    match = OPENING.match(opening)
    prefix = match["prefix"] if match else ""
    rows = [f"{mark}{name}", *code, mark]
    return [f"{prefix}{row}".rstrip() for row in rows]


def _words(html: str) -> str:
    text = re.sub("<[^>]*>", " ", END_OF_LINE.sub("\n", html))
    rows = (" ".join(row.split()) for row in unescape(text).split("\n"))
    return "\n".join(filter(None, rows))
