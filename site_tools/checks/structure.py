"""The rules for every page: headings, quotations, no HTML, its own language."""

import re
from collections.abc import Iterator
from pathlib import Path

from site_tools.checks.anatomy import Row, answer, is_question, proof, sections
from site_tools.checks.code_width import code_width
from site_tools.checks.conditions import conditions
from site_tools.checks.features import HEADING
from site_tools.checks.front_matter import front_matter
from site_tools.numbers import find
from site_tools.page.blocks import Kind
from site_tools.page.notebooks import is_notebook
from site_tools.page.page import LANGUAGES, Page
from site_tools.page.prose import QUOTE, blank, line_of, parts, plain
from site_tools.problems import Problem

TAG = re.compile(r"<[A-Za-z!/][^>\n]*>?")
INCLUDE = re.compile(r"^[ \t>]*;*-+8<-+.*$", re.M)
UNDERLINED = re.compile(r"^[ \t]*\S.*\n[ ]{0,3}(?:=+|-+)[ \t]*$", re.M)
TEXT = ("text", "console", "markdown")
ALT = re.compile(r"!\[\s*\]\(")


def check_structure(page: Page, root: Path) -> list[Problem]:
    """Everything about the shape of a page that does not hold.

    Args:
        page: The page.
        root: The project's folder.
    """
    checks = [
        _encoding,
        _headings,
        _html,
        _alt_texts,
        _quotations,
        _includes,
        _languages,
        _shown_text,
        _language_of_plots,
        conditions,
    ]
    if is_question(page.id):
        checks += [sections, answer, proof]
    rows = [*front_matter(page, root), *code_width(page)]
    rows += [row for check in checks for row in check(page)]
    return [Problem(page.path, *row) for row in rows]


def _encoding(page: Page) -> Iterator[Row]:
    at = page.text.find("\ufffd")
    if at >= 0:
        line = line_of(page.text, at)
        yield line, "bytes that are no UTF-8", "a page in UTF-8", "save it as UTF-8"


def _headings(page: Page) -> Iterator[Row]:
    for match in HEADING.finditer(page.body):
        line = line_of(page.body, match.start())
        if match["level"] == "#":
            fix = "put the title into the front matter and start at ##"
            yield line, match[0], "no # heading: the front matter has the title", fix
        elif match["id"] is None:
            fix = f"write {match[0].strip()} {{ #short-id }}"
            yield line, match[0], "an id of its own, equal in both languages", fix
    for match in UNDERLINED.finditer(page.body):
        line = line_of(page.body, match.start())
        fix = "write ## ... { #id }, or leave an empty line above a rule"
        yield line, match[0].strip(), "headings with # only", fix


def _html(page: Page) -> Iterator[Row]:
    text = page.body
    for part in parts(page.body):
        if part.kind != "comment":
            text = blank(text, part.start, part.end)
    for match in TAG.finditer(text):
        line = line_of(text, match.start())
        fix = "write Markdown, or put it between backticks"
        yield line, match[0], "no HTML in a page", fix


def _alt_texts(page: Page) -> Iterator[Row]:
    for match in ALT.finditer(page.body):
        line = line_of(page.body, match.start())
        yield (
            line,
            match[0],
            "a text that stands for the picture",
            "write ![what it shows]",
        )


def _quotations(page: Page) -> Iterator[Row]:
    known = page.sources
    for match in QUOTE.finditer(page.body):
        if not any(f" {match['source']}".endswith(f" {source}") for source in known):
            line = line_of(page.body, match.start())
            fix = "end the title with its source, named in refs of the front matter"
            expected = f"one of {', '.join(known)}" if known else "a source of refs"
            yield line, f"a quotation of {match['source']!r}", expected, fix


def _includes(page: Page) -> Iterator[Row]:
    for match in INCLUDE.finditer(page.body):
        line = line_of(page.body, match.start())
        fix = "put it into a ```python fence, or write the text here"
        yield line, match[0].strip(), "an include inside a code fence", fix


def _languages(page: Page) -> Iterator[Row]:
    """Words of the other language: a page that was copied and not written."""
    text = plain(page.body, page.refs)
    match = re.search("[㐀-鿿]+", text)
    if page.language == "en" and match:
        line = line_of(text, match.start())
        yield line, match[0], "English on an English page", "write it in English"
    if page.language == "zh" and text.strip() and not match:
        yield 1, "no Chinese on the page", "Chinese on a Chinese page", "write it"
    for block in page.blocks:
        shown = block.fence.header[1].values.get("data-language", page.language)
        if shown != page.language:
            fix = f'write data-language="{page.language}"'
            yield block.fence.line, f"data-language {shown!r}", page.language, fix


def _language_of_plots(page: Page) -> Iterator[Row]:
    """The line of a notebook that says what language its labels are in."""
    other = LANGUAGES[1 - LANGUAGES.index(page.language)]
    meant = f'language = "{page.language}"  # or "{other}"'
    for line in (line for block in page.blocks for line in block.lines):
        wrong = line.text.startswith("language =") and line.text.rstrip() != meant
        if wrong and is_notebook(page.id):
            yield line.page_line, line.text, meant, f"write {meant} on the page itself"


def _shown_text(page: Page) -> Iterator[Row]:
    """Figures in fences that are text and no code, where nothing prints them."""
    for block in page.blocks:
        if block.kind is not Kind.SHOWN or block.fence.header[0] not in TEXT:
            continue
        for line in block.lines:
            for number in find(plain(line.text, page.refs)):
                found = f"{number.text} in a {block.fence.header[0]} fence"
                fix = "let a block print it, and show it as its ```output"
                yield line.page_line, found, "a figure that a block prints", fix
