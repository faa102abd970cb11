"""The code of a page: as wide as a phone, and the block that is copied as a comment."""

import sys

from site_tools.messages import Problems
from site_tools.page.page import Page
from site_tools.source.blocks import Kind
from site_tools.source.content import columns

WIDEST_CODE = 52  # columns that a phone shows
# An output that nobody reads to its end says less than its last lines do.
MOST_LINES, MOST_CHARACTERS = 60, 3000
LONGEST_COMMENT = 8  # lines of the block that is copied as a comment
# What it may import: whoever reads the comment has nothing else.
WITH_TORCH = {"torch", *sys.stdlib_module_names}


def check_code_width(page: Page) -> Problems:
    """Every line of code or output that a phone would cut."""
    for block in page.blocks:
        if block.kind not in (Kind.RUN, Kind.OUTPUT):
            continue
        for text, number, snippet in block.lines:
            wide = columns(text)
            if wide > WIDEST_CODE:
                values = {
                    "source": snippet or f"{page.path}:{number}",
                    "wide": wide,
                    "most": WIDEST_CODE,
                    "text": text.strip()[:60],
                    "snippet": snippet,
                }
                yield page.problem(number, "code_wide", **values)


def check_output_size(page: Page) -> Problems:
    """Every output that is longer than anybody reads."""
    for block in page.blocks:
        if block.kind is not Kind.OUTPUT:
            continue
        lines, size = len(block.text.splitlines()), len(block.text)
        if lines > MOST_LINES or size > MOST_CHARACTERS:
            values = {
                "lines": lines,
                "size": size,
                "most_lines": MOST_LINES,
                "most": MOST_CHARACTERS,
            }
            yield page.problem(block.fence.line, "output_long", **values)


def check_comments(page: Page) -> Problems:
    """Faults of the block that is copied as a comment: one a page, short, alone."""
    marked = [block for block in page.blocks if "comment" in block.classes]
    for block in marked:
        line = block.fence.line
        lines = len(block.text.splitlines())
        if block is not marked[0]:
            yield page.problem(line, "comment_twice")
        if lines > LONGEST_COMMENT:
            values = {"lines": lines, "most": LONGEST_COMMENT}
            yield page.problem(line, "comment_long", **values)
        beyond = block.imported - WITH_TORCH
        if beyond:
            names = ", ".join(sorted(beyond))
            yield page.problem(line, "comment_imports", names=names)
        if others := block.classes - {"comment"}:
            yield page.problem(line, "comment_class", classes=" .".join(others))
        if not block.expects:
            yield page.problem(line, "comment_silent")
