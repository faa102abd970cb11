"""The two languages of a page, compared: everything but the words must be equal."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from bs4 import Tag

from site_tools.messages import LANGUAGES, Message, Problem
from site_tools.numbers import find_numbers
from site_tools.page.page import Page
from site_tools.page.pictures import in_no_language, is_notebook
from site_tools.page.tree import HEADING_TAG, formula_of

SHARED_KEYS = ("needs", "answers", "refs")
PROSE_OPTIONS = re.compile(r'\s*(?:title|data-reason|data-language)="[^"]*"')
TITLES = ".admonition-title, summary"
# What must agree in order; all else, within each section.
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
    section, starts = "", [(1, "")]
    for tag in page.tree.find_all(True):
        if tag.name == "pre" or tag.find_parent("pre"):
            continue
        if HEADING_TAG.fullmatch(tag.name):
            section = _written_id(tag, page)
            starts.append((page.line_of(tag), section))
        for kind, value in _of_tag(tag, page):
            yield Feature(kind, section, value, (page.line_of(tag),))
    lines = page.text.splitlines()
    for block in page.blocks:
        first = block.fence.line
        section = [name for line, name in starts if line <= first][-1]
        indent = re.split(r"[^ \t>]", lines[first - 1], maxsplit=1)[0]
        info = PROSE_OPTIONS.sub("", block.fence.info)
        code = in_no_language(block.text) if is_notebook(page.id) else block.text
        rows = (first, *(line.page_line for line in block.lines))
        yield Feature("code_block", section, f"{indent}```{info}\n{code}", rows)


def _written_id(heading: Tag, page: Page) -> str:
    """The id of a heading as it is written; that it has none is told elsewhere."""
    name = str(heading.get("id"))
    return name if f"#{name}" in page.body else "..."


def _of_tag(tag: Tag, page: Page) -> Iterator[tuple[str, str]]:
    classes = tag.get_attribute_list("class")
    if HEADING_TAG.fullmatch(tag.name):
        yield "heading", f"{'#' * int(tag.name[1])} {{ #{_written_id(tag, page)} }}"
    elif "arithmatex" in classes:
        kind = "displayed_formula" if tag.name == "div" else "formula"
        yield kind, "".join(formula_of(tag).split())
    elif tag.name == "a" and "headerlink" not in classes:
        yield "link", str(tag.get("href"))
    elif tag.name == "img":
        yield "picture", str(tag.get("src"))
    elif tag.has_attr("data-is"):
        shown = "".join(tag.get_text().split())
        yield "figure", f"{shown} = {tag['data-is']}"
    elif tag.name == "code" and not tag.attrs:
        yield "inline_code", f"`{tag.get_text()}`"
    elif tag.name == "tr":
        cells = len(tag.find_all(["td", "th"]))
        bound = ", ".join(str(each["data-is"]) for each in tag.select("[data-is]"))
        yield "table_row", f"{cells} cells {bound}".strip()
    elif "tabbed-set" in classes:
        yield "box", "=== " * len(tag.find_all("label"))
    elif "admonition" in classes:
        yield from _of_box(tag, "!!!", page)
    elif tag.name == "details":
        yield from _of_box(tag, "???", page)


def _of_box(tag: Tag, marks: str, page: Page) -> Iterator[tuple[str, str]]:
    """A box: its kind, and its source if that is in its title; figures it quotes."""
    head = tag.select_one(TITLES)
    title = head.get_text() if head else ""
    words = [marks, *(each for each in tag.get("class") or () if each != "admonition")]
    sources = [ref for ref in page.sources if title.endswith(ref)]
    yield "box", " ".join([*words, *sources[:1]])
    if "quote" in words:
        for number in find_numbers(tag.get_text().removeprefix(title)):
            yield "quoted_figure", number.text


def compare(page: Page, twin: Page) -> list[Problem]:
    """Every difference between a page and its twin that is not in the words.

    Where headings differ nothing else is compared, since sections then mean nothing.
    """
    problems = _compare_front_matter(page, twin)
    ours, theirs = list(features(page)), list(features(twin))
    kinds = dict.fromkeys(feature.kind for feature in [*ours, *theirs])
    for kind in sorted(kinds, key=lambda kind: kind != "heading"):
        here = [feature for feature in ours if feature.kind == kind]
        there = [feature for feature in theirs if feature.kind == kind]
        if kind in ORDERED:
            pair = _first_in_order(here, there)
        elif kind == "inline_code":  # each section must have the same pieces
            pair = _first_in_sections(_distinct(here), _distinct(there))
        else:
            pair = _first_in_sections(here, there)
        problems += _difference(*pair, page, twin)
        if kind == "heading" and problems:
            break
    return problems


def _compare_front_matter(page: Page, twin: Page) -> list[Problem]:
    problems = []
    for key in SHARED_KEYS:
        value, other = page.meta.get(key), twin.meta.get(key)
        if value != other:
            values = {"key": key, "value": value, "other": other, "twin": twin.path}
            line = page.line_with(f"{key}:") or 1
            problems.append(page.problem(line, "pair_front", **values))
    return problems


FeaturePair = tuple[
    Feature | None, Feature | None
]  # of which the twin's, ours, or both


def _first_in_order(here: Sequence[Feature], there: Sequence[Feature]) -> FeaturePair:
    """The first place at which the two differ."""
    for ours, theirs in zip_longest(here, there):
        if ours is None or theirs is None or ours.value != theirs.value:
            return ours, theirs
    return None, None


def _distinct(features: Sequence[Feature]) -> list[Feature]:
    """Each piece of a section once."""
    found: dict[tuple[str, str], Feature] = {}
    for feature in features:
        found.setdefault((feature.section, feature.value), feature)
    return list(found.values())


def _first_in_sections(
    here: Sequence[Feature], there: Sequence[Feature]
) -> FeaturePair:
    """The first that the other section has not, or has not as often."""
    ours = Counter((feature.section, feature.value) for feature in here)
    theirs = Counter((feature.section, feature.value) for feature in there)
    return _first_of(here, ours - theirs), _first_of(there, theirs - ours)


def _first_of(features: Sequence[Feature], extra: Counter[Any]) -> Feature | None:
    for feature in features:
        if extra[feature.section, feature.value]:
            return feature
    return None


def _difference(
    ours: Feature | None, theirs: Feature | None, page: Page, twin: Page
) -> Iterator[Problem]:
    if ours and theirs:
        row, here, there = _differing_row(ours.value, theirs.value)
        yield page.problem(
            ours.at(row),
            "pair_differs",
            kind=Message("pair_kinds", part=ours.kind),
            here=here,
            there=there,
            twin=twin.path,
            at=theirs.at(row),
        )
    elif ours:
        yield _lacking(ours, page, twin)
    elif theirs:
        yield _lacking(theirs, twin, page)


def _differing_row(ours: str, theirs: str) -> tuple[int, str | Message, str | Message]:
    """The first line on which two values differ, and what stands there."""
    nothing = Message("pair_nothing")
    rows = zip_longest(ours.splitlines(), theirs.splitlines(), fillvalue=nothing)
    for row, (here, there) in enumerate(rows):
        if here != there:
            return row, here, there
    return 0, ours, theirs


def _lacking(feature: Feature, page: Page, twin: Page) -> Problem:
    """That the other language of a page lacks something."""
    return page.problem(
        feature.at(0),
        "pair_missing",
        kind=Message("pair_kinds", part=feature.kind),
        file=twin.path,
        shown=feature.value.partition("\n")[0],
        section=feature.section or Message("pair_top"),
    )
