"""The body of a page: headings, boxes, code that a phone shows."""

import re
import sys
from collections.abc import Iterator

from site_tools.judge.sections import (
    MANDATORY,
    imported,
    section_lines,
    without_id,
)
from site_tools.messages import LANGUAGES, Message, Problem
from site_tools.page.page import Page
from site_tools.page.pictures import is_notebook
from site_tools.page.tree import HEADING_TAG
from site_tools.source.blocks import Kind
from site_tools.source.content import blank, columns, line_of
from site_tools.source.inline import parts

WIDEST_CODE = 52  # columns that a phone shows
LONGEST_COMMENT = 8  # lines of the block that is copied as a comment
# What it may import: whoever reads the comment has nothing else.
WITH_TORCH = {"torch", *sys.stdlib_module_names}
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
CHINESE = re.compile("[㐀-鿿]+")
WRITTEN = re.compile(r"\w")


def check_code_width(page: Page) -> Iterator[Problem]:
    """Every line of code or output that a phone would cut."""
    shown = [block for block in page.blocks if block.kind in (Kind.RUN, Kind.OUTPUT)]
    for block in shown:
        for text, number, snippet in block.lines:
            wide = columns(text)
            if wide > WIDEST_CODE:
                source = snippet or f"{page.path}:{number}"
                values = {"source": source, "wide": wide, "most": WIDEST_CODE}
                values |= {"text": text.strip()[:60], "snippet": snippet}
                yield page.problem(number, "code_wide", **values)


def check_patterns(page: Page) -> Iterator[Problem]:
    """Patterns that no body may hold: pictures without words, boxes without indent."""
    title = "question" if "question" in page.meta else "title"
    for key, pattern in PATTERNS.items():
        for match in pattern.finditer(page.body):
            line = line_of(page.body, match.start())
            yield page.problem(line, key, text=match[0].strip(), title=title)


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


def check_quotations(page: Page) -> Iterator[Problem]:
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


def check_left(page: Page) -> Iterator[Problem]:
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


def check_own_language(page: Page) -> Iterator[Problem]:
    """Chinese on an English page, or none on a Chinese one: copied and not written."""
    written = False
    for flow in page.flows:
        if flow.quoted and page.language == "zh":
            continue  # who reads English alone cannot read a Chinese quotation either
        text = page.without_refs(flow.prose)
        written = written or bool(WRITTEN.search(text))
        chinese = CHINESE.search(text)
        if chinese and page.language == "zh":
            return
        if chinese:
            line = page.line_near(chinese[0], flow.piece_at(chinese.start()).line)
            yield page.problem(line, "words_chinese", text=chinese[0])
            return
    if written and page.language == "zh":
        yield page.problem(1, "words_no_chinese")


def check_lists_language(page: Page) -> Iterator[Problem]:
    """Lists made from data in the other language."""
    for block in page.blocks:
        shown = block.options.get("data-language", page.language)
        if shown != page.language:
            values = {"shown": shown, "own": page.language}
            yield page.problem(block.fence.line, "fence_other_language", **values)


def check_plots_language(page: Page) -> Iterator[Problem]:
    """Plots of a notebook whose labels are in the other language."""
    if not is_notebook(page.id):
        return
    own, other = page.language, LANGUAGES[1 - LANGUAGES.index(page.language)]
    due = f'language = "{own}"  # or "{other}"'
    for block in page.blocks:
        for line in block.lines:
            if line.text.startswith("language =") and line.text.rstrip() != due:
                values = {"text": line.text, "due": due}
                yield page.problem(line.page_line, "plot_language", **values)


def check_comments(page: Page) -> Iterator[Problem]:
    """Faults of the block that is copied as a comment: one a page, short, alone."""
    marked = [block for block in page.blocks if "comment" in block.classes]
    for block in marked:
        line, lines = block.fence.line, len(block.text.splitlines())
        if block is not marked[0]:
            yield page.problem(line, "comment_twice")
        if lines > LONGEST_COMMENT:
            values = {"lines": lines, "most": LONGEST_COMMENT}
            yield page.problem(line, "comment_long", **values)
        if beyond := {*imported(block.text)} - WITH_TORCH:
            names = ", ".join(sorted(beyond))
            yield page.problem(line, "comment_imports", names=names)
        if others := block.classes - {"comment"}:
            yield page.problem(line, "comment_class", classes=" .".join(others))
        if not block.expects:
            yield page.problem(line, "comment_silent")
