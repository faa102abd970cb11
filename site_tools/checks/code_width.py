"""Code and outputs fit a phone."""

import unicodedata
from collections.abc import Iterator

from site_tools.checks.anatomy import Row
from site_tools.page.blocks import Kind
from site_tools.page.page import Page

WIDEST_CODE = 52


def code_width(page: Page) -> Iterator[Row]:
    """Every line of code or output that a phone would cut."""
    for block in page.blocks:
        if block.kind not in (Kind.RUN, Kind.OUTPUT):
            continue
        for line in block.lines:
            wide = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line.text)
            if wide > WIDEST_CODE:
                found = f"{wide} columns: {line.text.strip()}"
                fix = "break the line"
                if line.snippet:
                    fix = f"break the line in {line.snippet}"
                yield line.page_line, found, f"at most {WIDEST_CODE} (a phone)", fix
