"""The headings of a page: each with an id, and each one that lists can see."""

import re
from collections.abc import Iterator

from site_tools.judge.sections import MANDATORY, section_lines, without_id
from site_tools.messages import Problem
from site_tools.page.page import Page
from site_tools.page.tree import HEADING_TAG


def check_heading_ids(page: Page) -> Iterator[Problem]:
    """Headings without an id, with the one that is perhaps meant."""
    lines = section_lines(page)
    missing = [name for name in MANDATORY if name not in lines]
    for heading in without_id(page):
        text = heading.written.strip()
        bare = re.fullmatch(r"(?P<words>.*\S)[ ]+#(?P<id>[\w-]+)", text)
        words, name = (bare["words"], bare["id"]) if bare else (text, "")
        name = name or [*missing, "short-id"][0]
        values = {"text": text, "words": words, "id": name}
        yield page.problem(heading.line, "heading_without_id", **values)


def check_seen_headings(page: Page) -> Iterator[Problem]:
    """Headings that readers see and lists do not, as ``##x``, or one inside a box."""
    written = [(heading.line, heading.level) for heading in page.content.headings]
    for tag in page.tree.find_all(HEADING_TAG):
        line = page.line_of(tag)
        marked = "#" in page.content.lines[line - 1]  # one underlined is told by itself
        if marked and (line, int(tag.name[1])) not in written:
            text = page.content.lines[line - 1].strip()
            yield page.problem(line, "heading_unread", text=text)
