"""The headings of a page: each with an id, and each one that lists can see.

What a heading is: ``source.content``. ``# x`` and underlined ones are in ``body``, the
sections that a question has in ``sections``.
"""

import re

from site_tools.judge.sections import MANDATORY, section_lines, without_id
from site_tools.messages import Problems
from site_tools.page.page import Page
from site_tools.page.tree import HEADING_TAG

BARE_ID = re.compile(r"(?P<words>.*\S)[ ]+#(?P<id>[\w-]+)")


def check_heading_ids(page: Page) -> Problems:
    """Headings without an id, with the one that is perhaps meant."""
    lines = section_lines(page)
    missing = [name for name in MANDATORY if name not in lines]
    for heading in without_id(page):
        text = heading.written.strip()
        words, name = text, "short-id"
        bare = BARE_ID.fullmatch(text)
        if bare:
            words, name = bare["words"], bare["id"]
        elif missing:
            name = missing[0]
        values = {"text": text, "words": words, "id": name}
        yield page.problem(heading.line, "heading_without_id", **values)


def check_seen_headings(page: Page) -> Problems:
    """Headings that readers see and lists do not, as ``##x``, or one inside a box."""
    written = [(heading.line, heading.level) for heading in page.content.headings]
    for tag in page.tree.find_all(HEADING_TAG):
        line = page.line_of(tag)
        text = page.content.lines[line - 1].strip()
        marked = "#" in text  # one underlined is told by itself
        if marked and (line, int(tag.name[1])) not in written:
            yield page.problem(line, "heading_unread", text=text)
