"""The two languages of a page, compared: everything but the words must be equal."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from bs4 import Tag

from site_tools.numbers import find
from site_tools.page.page import Page
from site_tools.page.pictures import in_no_language, is_notebook
from site_tools.say import LANGUAGES, Message, Problem

SHARED = ("needs", "answers", "refs")
HEADING = re.compile("h[1-6]")
PROSE_OPTIONS = re.compile(r'\s*(?:title|data-reason|data-language)="[^"]*"')
TITLES = (".admonition-title", "summary")
ORDERED = ("heading", "code_block", "displayed_formula", "picture", "box", "table_row")


class Feature(NamedTuple):
    """Something that both languages must have: what it is, where, and its value."""

    kind: str
    section: str
    value: str
    lines: tuple[int, ...]  # of the page: one, or one for each line of the value

    def at(self, row: int) -> int:
        """The line of the page on which a line of the value stands, or would."""
        return self.lines[min(row, len(self.lines) - 1)]


def twin_path(path: str) -> str:
    """The same page in the other language."""
    docs, language, *rest = PurePosixPath(path).parts
    other = LANGUAGES[1 - LANGUAGES.index(language)]
    return str(PurePosixPath(docs, other, *rest))


def features(page: Page) -> Iterator[Feature]:
    """Everything on a page that its twin must have too, from the rendered tree."""
    starts = [(1, "")]
    for tag in page.tree.find_all(True):
        if HEADING.fullmatch(tag.name):
            starts.append((page.line_of(tag), _id(tag, page)))
        if tag.name != "pre" and not tag.find_parent("pre"):
            for kind, value in _of_tag(tag, page):
                yield Feature(kind, starts[-1][1], value, (page.line_of(tag),))
    lines = page.text.splitlines()
    for block in page.blocks:
        first = block.fence.line
        indent = re.split(r"[^ \t>]", lines[first - 1], maxsplit=1)[0]
        info = PROSE_OPTIONS.sub("", block.fence.info)
        code = in_no_language(block.text) if is_notebook(page.id) else block.text
        section = next(name for line, name in reversed(starts) if line <= first)
        rows = (first, *(line.page_line for line in block.lines))
        yield Feature("code_block", section, f"{indent}```{info}\n{code}", rows)


def _id(heading: Tag, page: Page) -> str:
    """The id of a heading as it is written; that it has none is told elsewhere."""
    name = str(heading.get("id"))
    return name if f"#{name}" in page.body else "..."


def _of_tag(tag: Tag, page: Page) -> Iterator[tuple[str, str]]:
    classes = tag.get_attribute_list("class")
    text, squeezed = tag.get_text(), "".join(tag.get_text().split())
    if HEADING.fullmatch(tag.name):
        yield "heading", f"{'#' * int(tag.name[1])} {{ #{_id(tag, page)} }}"
    elif "arithmatex" in classes:
        display = tag.name == "div"
        yield "displayed_formula" if display else "formula", squeezed[2:-2]
    elif tag.name == "a" and "headerlink" not in classes:
        yield "link", str(tag.get("href"))
    elif tag.name == "img":
        yield "picture", str(tag.get("src"))
    elif tag.has_attr("data-is"):
        yield "figure", f"{squeezed} = {tag['data-is']}"
    elif tag.name == "code" and not tag.attrs:
        yield "inline_code", f"`{text}`"
    elif tag.name == "tr":
        bound = ", ".join(str(each["data-is"]) for each in tag.select("[data-is]"))
        yield "table_row", f"{len(tag.find_all(['td', 'th']))} cells {bound}".strip()
    elif "tabbed-set" in classes:
        yield "box", "=== " * len(tag.find_all("label"))
    elif "admonition" in classes or tag.name == "details":
        heads = [head.get_text() for head in tag.select(", ".join(TITLES), limit=1)]
        source = (ref for ref in page.sources if heads and heads[0].endswith(ref))
        marks = "!!!" if "admonition" in classes else "???"
        kinds = (name for name in classes if name != "admonition")
        yield "box", " ".join([marks, *map(str, kinds), next(source, "")]).strip()
        if "quote" in classes:
            for number in find(text.removeprefix(heads[0] if heads else "")):
                yield "quoted_figure", number.text


def compare(page: Page, twin: Page) -> list[Problem]:
    """Every difference between a page and its twin that is not in the words.

    What is ``ORDERED`` must agree in order, all else within each section; of inline
    code, each section must have the same pieces. Where headings differ nothing else is
    compared, since sections then mean nothing.
    """
    problems = []
    for key in SHARED:
        value, other = page.meta.get(key), twin.meta.get(key)
        if value != other:
            values = {"key": key, "value": value, "other": other, "twin": twin.path}
            line = page.line_with(f"{key}:") or 1
            problems.append(page.problem(line, "pair_front", **values))
    ours, theirs = list(features(page)), list(features(twin))
    kinds = dict.fromkeys(feature.kind for feature in [*ours, *theirs])
    for kind in sorted(kinds, key=lambda kind: kind != "heading"):
        here = [f for f in ours if f.kind == kind]
        there = [f for f in theirs if f.kind == kind]
        pick = _in_order if kind in ORDERED else _in_sections
        problems += _told(*pick(here, there), page, twin)
        if kind == "heading" and problems:
            break
    return problems


Pair = tuple[Feature | None, Feature | None]  # of which the twin's, ours, or both


def _in_order(here: list[Feature], there: list[Feature]) -> Pair:
    """The first place at which the two differ."""
    for ours, theirs in zip_longest(here, there):
        if ours is None or theirs is None or ours.value != theirs.value:
            return ours, theirs
    return None, None


def _in_sections(here: list[Feature], there: list[Feature]) -> Pair:
    """The first that the other section has not, or has not as often."""
    ours = Counter((f.section, f.value) for f in here)
    theirs = Counter((f.section, f.value) for f in there)
    if here and here[0].kind == "inline_code":
        ours, theirs = Counter(set(ours)), Counter(set(theirs))
    extra = (f for f in here if (ours - theirs)[f.section, f.value])
    lacking = (f for f in there if (theirs - ours)[f.section, f.value])
    return next(extra, None), next(lacking, None)


def _told(
    ours: Feature | None, theirs: Feature | None, page: Page, twin: Page
) -> Iterator[Problem]:
    values: dict[str, Any]
    if ours and theirs:
        rows = [*zip_longest(ours.value.splitlines(), theirs.value.splitlines())]
        row = next((n for n, (a, b) in enumerate(rows) if a != b), 0)
        here, there = (Message("pair_nothing") if r is None else r for r in rows[row])
        values = {"here": here, "there": there, "twin": twin.path}
        values |= {"at": theirs.at(row), "kind": Message(f"kind_{ours.kind}")}
        yield page.problem(ours.at(row), "pair_differs", **values)
    elif alone := ours or theirs:
        has, lacks = (page, twin) if ours else (twin, page)
        values = {"kind": Message(f"kind_{alone.kind}"), "file": lacks.path}
        values["shown"] = alone.value.partition("\n")[0]
        values["section"] = alone.section or Message("pair_top")
        yield has.problem(alone.at(0), "pair_missing", **values)
