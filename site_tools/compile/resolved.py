"""A page with nothing left to resolve: code from snippets is in, lists are there.

The generator builds this text, and all that readers take along is made of it.
"""

from pathlib import Path

from site_tools.compile.lists import derived, fact_as_markdown, measured
from site_tools.messages import Refusal
from site_tools.page.page import Page
from site_tools.source.blocks import Block, Kind
from site_tools.source.fences import OPENING

UNSEARCHED = '<div class="status benchmarks" data-unsearched="1">'
OUTPUT_INFO = "{ .text .no-copy }"  # what stands behind the fence of an output


def resolved(page: Page, root: Path) -> str:
    """The Markdown of a page; one that cannot be read is a ValueError that names it."""
    if len(page.blocks) < len(page.fences):
        raise ValueError(page.problems[0])
    lines = page.text.split("\n")
    try:
        for block in reversed(page.blocks):
            rows = block.fence.rows
            opening = lines[rows.start - 1]
            lines[rows.start - 1 : rows.stop - 1] = _fence(block, opening, root)
    except Refusal as error:
        raise ValueError(f"{page.path}: {error}") from None
    return "\n".join(lines)


def _fence(block: Block, opening: str, root: Path) -> list[str]:
    """The lines of a fence with what it includes, or of what is made of it."""
    match = OPENING.match(opening)
    assert match
    prefix = match["prefix"]
    if block.kind is Kind.DERIVED:
        made = _made(block, root, within=bool(prefix))
        return ["", *(f"{prefix}{row}".rstrip() for row in made.split("\n")), ""]
    if block.kind is Kind.OUTPUT:
        opening = f"{prefix}{match['fence']}{OUTPUT_INFO}"
    rows = [f"{prefix}{line.text}".rstrip() for line in block.lines]
    return [opening, *rows, f"{prefix}{match['fence']}"]


def _made(block: Block, root: Path, *, within: bool) -> str:
    """The text of a fence made from data, which may stand within a fold."""
    lang = block.options.get("data-language", "")
    if block.language == "fact":
        return fact_as_markdown(block.text, root)
    if block.language == "benchmarks" and within:
        # In a fold HTML is no block; a tag that is a paragraph stays a tag.
        tables = measured(block.text.strip(), lang, root)
        return f"{UNSEARCHED}\n\n{tables}\n\n</div>"
    made = derived(block.language, block.text, lang, root)
    # A block of HTML ends at an empty line.
    return "\n".join(line for line in made.split("\n") if line.strip())
