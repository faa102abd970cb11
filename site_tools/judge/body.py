"""The Markdown of a page: boxes, quotations, pictures, formulas, marks, no HTML."""

import re

from site_tools.messages import Message, Problems
from site_tools.page.page import Page
from site_tools.source.content import blank, line_of
from site_tools.source.inline import parts

# What no body of a page may hold, by the key of the message.
PATTERNS = {
    "heading_top": re.compile(r"^#[ ].*$", re.M),
    "heading_underlined": re.compile(r"^[ \t]*\S.*\n[ ]{0,3}(?:=+|-+)[ \t]*$", re.M),
    "picture_silent": re.compile(r"!\[\s*\]\("),
    "box_indent": re.compile(
        r"^(?P<dent>[ ]*)(?:[!?]{3}\+?|===)[ ].*\n+"
        r"(?!(?P=dent)[ ]{4}|[ ]*(?:[!?]{3}|===|#))[ ]*\S.*$",
        re.M,
    ),
    "include_outside": re.compile(r"^[ \t>]*;*-+8<-+.*$", re.M),
}
# What none of its lines may hold once code and formulas are left out.
LEFT = {
    "html": re.compile(r"<(?!img)[A-Za-z!/][^>]*>?"),  # a picture is told by itself
    "formula_unclosed": re.compile(r"(?<!\\)\$\$.*"),
}
# Marks of Markdown that readers see, since what they open is not closed.
SEEN_MARKS = re.compile(
    r"\*\*|`|(?<!\$)\$(?![\d$])|\]\(|\] ?[(（](?:https?:|[\w./-]*\.md)"
    r"|(?<![\w*])\*(?=\w)"
)


def check_patterns(page: Page) -> Problems:
    """Patterns that no body may hold: pictures without words, boxes without indent."""
    title = "question" if "question" in page.meta else "title"
    for key, pattern in PATTERNS.items():
        for match in pattern.finditer(page.body):
            line = line_of(page.body, match.start())
            yield page.problem(line, key, text=match[0].strip(), title=title)


def check_quotations(page: Page) -> Problems:
    """Quotations from a source that the front matter does not know."""
    for quotation in page.content.quotations:
        source = f" {quotation.source}"
        if any(source.endswith(f" {known}") for known in page.sources):
            continue
        known = Message("refs_empty")
        if page.sources:
            known = Message("refs_known", {"sources": ", ".join(page.sources)})
        values = {"source": quotation.source, "known": known}
        yield page.problem(quotation.line, "quote_source", **values)


def check_left(page: Page) -> Problems:
    """HTML, and formulas that are not closed."""
    text = page.body
    for part in parts(text):
        if part.kind != "comment":
            text = blank(text, part.start, part.end)
    for number, line in enumerate(text.split("\n"), 1):
        for key, pattern in LEFT.items():
            if left := pattern.search(line):
                yield page.problem(number, key, text=left[0])
                break  # one word on each line


def check_seen_marks(page: Page) -> Problems:
    """The first mark of a paragraph that readers see: bold, code, formula or link."""
    for flow in page.flows:
        for piece in flow.pieces:
            seen = SEEN_MARKS.search(piece.text) if piece.kind == "text" else None
            if seen is None:
                continue
            around = piece.text[seen.start() :].partition("\n")[0][:20]
            line = page.line_near(around, piece.line)
            if f"\\{seen[0][0]}" not in page.text.split("\n")[line - 1]:
                yield page.problem(line, "mark_unclosed", text=around.strip())
                break
