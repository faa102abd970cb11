"""The rules for every page: front matter, headings, quotations, narrow code."""

import re
import unicodedata
from collections.abc import Iterator

from site_tools.checks.anatomy import Row, answer, is_question, sections
from site_tools.checks.features import HEADING
from site_tools.problems import Problem
from site_tools.source.blocks import Kind
from site_tools.source.page import Page
from site_tools.source.prose import QUOTE, blank, line_of, parts

QUESTION_KEYS = ("question", "aliases", "needs", "answers", "refs")
OTHER_KEYS = ("title", "refs", "hide")
WIDEST_CODE = 52
TAG = re.compile(r"<[A-Za-z!/][^>\n]*>?")
ALT = re.compile(r"!\[\s*\]\(")


def check_structure(page: Page) -> list[Problem]:
    """Everything about the shape of a page that does not hold."""
    checks = [_front_matter, _headings, _html, _alt_texts, _quotations, _code_width]
    if is_question(page.id):
        checks += [sections, answer]
    return [Problem(page.path, *row) for check in checks for row in check(page)]


def _front_matter(page: Page) -> Iterator[Row]:
    question = is_question(page.id)
    keys, needed = (QUESTION_KEYS, "question") if question else (OTHER_KEYS, "title")
    for key in page.meta:
        if key not in keys:
            yield 1, f"key {key!r} in the front matter", f"one of {keys}", "remove it"
    if not isinstance(page.meta.get(needed), str):
        yield 1, f"no {needed}", f"a line {needed}: ... between two --- lines", "add it"
    for key in set(page.meta) - {"question", "title", "hide"}:
        value = page.meta[key]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            yield 1, f"{key}: {value!r}", "a list of texts", f'write {key}: ["..."]'


def _headings(page: Page) -> Iterator[Row]:
    seen: set[str] = set()
    for match in HEADING.finditer(page.body):
        line = line_of(page.body, match.start())
        if match["level"] == "#":
            fix = "put the title into the front matter and start at ##"
            yield line, match[0], "no # heading: the front matter has the title", fix
        elif match["id"] is None:
            fix = f"write {match[0].strip()} {{ #short-id }}"
            yield line, match[0], "an id of its own, equal in both languages", fix
        elif match["id"] in seen:
            yield line, f"#{match['id']} twice", "one id per heading", "rename one"
        seen.add(match["id"] or "")


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
    known = [*page.refs, *map(str, page.meta.get("answers") or ())]
    for match in QUOTE.finditer(page.body):
        if not any(source in match["source"] for source in known):
            line = line_of(page.body, match.start())
            fix = "name it in refs of the front matter"
            yield line, f"a quotation of {match['source']!r}", f"one of {known}", fix


def _code_width(page: Page) -> Iterator[Row]:
    for block in page.blocks:
        if block.kind not in (Kind.RUN, Kind.OUTPUT):
            continue
        for line in block.lines:
            wide = sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in line.text)
            if wide > WIDEST_CODE:
                found = f"{wide} columns: {line.text.strip()}"
                where = f" in {line.snippet}" if line.snippet else ""
                fix = f"break the line{where}"
                yield line.page_line, found, f"at most {WIDEST_CODE} (a phone)", fix
