"""The features of a page that its other language must have too."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bs4 import Tag

from site_tools.numbers import find_numbers
from site_tools.page.exercises import mark_and_words
from site_tools.page.page import Page
from site_tools.page.pictures import in_no_language, is_notebook
from site_tools.page.tree import HEADING_TAG, formula_of
from site_tools.source.blocks import Block
from site_tools.source.fences import OPENING

PROSE_OPTIONS = re.compile(r'\s*(?:title|data-reason|data-language)="[^"]*"')
TITLES = ".admonition-title, summary"


class Feature(NamedTuple):
    """Something that both languages must have: what it is, where, and its value."""

    kind: str
    section: str
    value: str
    lines: tuple[int, ...]  # of the page: one, or one for each line of the value

    def at(self, row: int) -> int:
        """The line of the page on which a line of the value stands, or would."""
        return self.lines[min(row, len(self.lines) - 1)]


def features(page: Page) -> Iterator[Feature]:
    """Everything on a page that its twin must have too, from the rendered tree."""
    section = ""
    starts = [(1, section)]
    for tag in page.tree.find_all(True):
        if tag.name == "pre" or tag.find_parent("pre"):
            continue
        if HEADING_TAG.fullmatch(tag.name):
            section = _written_id(tag, page)
            starts.append((page.line_of(tag), section))
        for kind, value in _of_tag(tag, page):
            yield Feature(kind, section, value, (page.line_of(tag),))
    for block in page.blocks:
        section = ""
        for line, name in starts:
            if line <= block.fence.line:
                section = name
        yield _of_block(block, section, page)


def _of_block(block: Block, section: str, page: Page) -> Feature:
    first = block.fence.line
    opening = OPENING.match(page.text.split("\n")[first - 1])
    indent = opening["prefix"] if opening else ""
    info = PROSE_OPTIONS.sub("", block.fence.info)
    code = in_no_language(block.text) if is_notebook(page.id) else block.text
    rows = (first, *(line.page_line for line in block.lines))
    return Feature("code_block", section, f"{indent}```{info}\n{code}", rows)


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
    elif "task-list-item" in classes:
        yield "given_answer", _marked(tag)
    elif "tabbed-set" in classes:
        yield "box", "=== " * len(tag.find_all("label"))
    elif "admonition" in classes:
        yield from _of_box(tag, "!!!", page)
    elif tag.name == "details":
        yield from _of_box(tag, "???", page)


def _marked(item: Tag) -> str:
    """An item of a task list: whether it is right, and the kind of its answer."""
    mark, words = mark_and_words(item)
    sign = "[x]" if mark and mark.has_attr("checked") else "[ ]"
    begins = words[0].name if words and isinstance(words[0], Tag) else ""
    return f"{sign} {begins}"


def _of_box(tag: Tag, marks: str, page: Page) -> Iterator[tuple[str, str]]:
    """A box: its kind, and its source if that is in its title; figures it quotes."""
    head = tag.select_one(TITLES)
    title = head.get_text() if head else ""
    words = [marks]
    words += [name for name in tag.get_attribute_list("class") if name != "admonition"]
    for source in page.sources:
        if title.endswith(source):
            words.append(source)
            break
    yield "box", " ".join(words)
    if "quote" in words:
        for number in find_numbers(tag.get_text().removeprefix(title)):
            yield "quoted_figure", number.text
