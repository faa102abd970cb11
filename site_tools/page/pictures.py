"""The pictures of a page: SVG files whose text is read like the prose around them.

A number in a picture carries ``data-is`` on its element. Pieces in several elements
are one text. What a picture may be made of says ``svg``. The plots of a page that is a
notebook are drawn by its code: a plot is named by its figure, as in
``plt.subplots(num="bias")``, and shown as ``![what it shows](<page>/bias.svg)``.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from site_tools.messages import LANGUAGES, Problem, Problems, Refusal, problem
from site_tools.numbers import Number
from site_tools.page.expressions import check_binding
from site_tools.page.figures import Figure, figure_touched
from site_tools.page.svg import element_faults, unreadable_picture
from site_tools.page.text import PageText
from site_tools.page.tree import SPOKEN, Flow, Piece, flows
from site_tools.page.unbound import as_shown
from site_tools.source.files import inside

Figures = dict[str, tuple[Figure, ...]]  # by the path of the picture
NOTEBOOKS = "notebooks"
LANGUAGE_OF_LABELS = re.compile(r'^language = "(\w+)"  # or "(\w+)"$', re.MULTILINE)
MOST_BYTES = 64 * 1024  # of a picture; what is drawn by hand needs a sixth of it
SVG_FILE = re.compile(r"[\w./-]+\.svg")
PICTURE_LINK = re.compile(rf"!\[(?P<alt>[^\]]*)\]\((?P<file>{SVG_FILE.pattern})\)")


def is_notebook(page_id: str) -> bool:
    """True if a page is a notebook, whose code runs once, from top to bottom."""
    folder, _, name = page_id.partition("/")
    return folder == NOTEBOOKS and name.removesuffix(".md") != "index"


def plots(text: str, page_id: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The plots that a page shows: the name of each, and its place in the text."""
    if not is_notebook(page_id):
        return
    for match in PICTURE_LINK.finditer(text):
        folder, name = posixpath.split(match["file"])
        if folder == posixpath.basename(page_id):
            yield name.removesuffix(".svg"), match


def in_no_language(code: str) -> str:
    """The code of a notebook without the language of its labels."""
    return LANGUAGE_OF_LABELS.sub("language = ...", code)


def read_pictures(page: PageText) -> tuple[Figures, list[Problem]]:
    """The figures of the pictures that lie beside the page's code, by their paths."""
    pictures: Figures = {}
    problems: list[Problem] = []
    drawn = {match["file"] for _, match in plots(page.text, page.id)}
    for image in page.tree.select("img"):
        src = str(image.get("src", ""))
        if src in drawn:
            continue
        file = (page.root / "snippets" / page.id).parent / src
        if wrong := _misplaced(page, src, file):
            problems.append(wrong)
            continue
        name = file.relative_to(page.root).as_posix()
        figures, faults = read_picture(file.read_text("utf-8"), name)
        pictures[name] = tuple(figures)
        problems += faults
    return pictures, problems


def _misplaced(page: PageText, src: str, file: Path) -> Problem | None:
    """The problem of where a picture lies or how large it is, if it has one."""
    line = page.line_with(f"]({src})")
    named = line and SVG_FILE.fullmatch(src)
    if not named or not inside(file, page.root / "snippets"):
        line = line or page.line_with(src) or 1
        own, base = f"{page.id}.svg", posixpath.basename(page.id)
        return page.problem(line, "picture_elsewhere", src=src, own=own, base=base)
    name = file.relative_to(page.root).as_posix()
    if not file.is_file():
        return page.problem(line, "picture_missing", src=src, name=name)
    size = file.stat().st_size
    if size > MOST_BYTES:  # which would take long to read
        values = {"name": name, "size": size, "most": MOST_BYTES}
        return page.problem(line, "picture_heavy", **values)
    return None


def picture_tree(svg: str) -> BeautifulSoup:
    """A picture as a tree whose tags know their lines, as a browser reads it."""
    return BeautifulSoup(svg, "html.parser")


def picture_flows(tree: BeautifulSoup, language: str) -> list[Flow]:
    """The runs of text of a picture in a language."""
    return flows(tree, line_in_picture, language)


def line_in_picture(node: object) -> int:
    """The line of a tag of a picture, or of the tag around a text."""
    tag = node if isinstance(node, Tag) else getattr(node, "parent", None)
    return getattr(tag, "sourceline", None) or 1


def read_picture(svg: str, path: str) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a picture, and a problem for each figure that is not."""
    tree = picture_tree(svg)
    if unread := unreadable_picture(svg, tree, path):
        return [], [unread]
    figures: list[Figure] = []
    problems: list[Problem] = []
    for tag in tree.find_all(True):
        line = line_in_picture(tag)
        for fault in element_faults(tag.name, tag.attrs):
            problems.append(problem(path, line, "picture_refused", fault=fault))
        try:
            if tag.has_attr("data-is"):
                figures.append(_bound_in(tag, line))
        except ValueError as error:
            problems.append(problem(path, line, "picture_binding", why=error))
    for language in LANGUAGES:
        for flow in picture_flows(tree, language):
            problems += _unbound_in(flow, path)
            problems += figure_touched(flow, path)
    return figures, sorted(dict.fromkeys(problems), key=lambda found: found.line)


def _bound_in(tag: Tag, line: int) -> Figure:
    """The figure that an element is, or a ValueError."""
    if tag.find(True):
        raise Refusal("number_unread", text=repr(tag.decode_contents()))
    figure = Figure(line, tag.get_text().strip(), str(tag["data-is"]))
    check_binding(figure.shown, figure.expression)
    return figure


def _unbound_in(flow: Flow, path: str) -> Problems:
    """The figures of a text, its pieces read as one word and as several."""
    apart = []
    for piece in flow.pieces:
        apart += [piece, piece._replace(kind="gap", text=" ")]
    for read in (flow, Flow(apart)):
        for number, piece in read.figures(read.text):
            yield _unbound_figure(path, number, piece)


def _unbound_figure(path: str, number: Number, piece: Piece) -> Problem:
    figure = as_shown(number)
    if piece.kind in SPOKEN:
        key = "picture_figure_in_attribute"
        return problem(path, piece.line, key, figure=figure, name=piece.kind)
    key = "picture_figure"
    return problem(path, piece.line, key, figure=figure, number=number.text)
