"""The pictures of a page: SVG files whose text is read like the prose around them.

A number in a picture carries ``data-is`` on its element. Pieces in several elements
are one text. What is neither an element nor a character is refused, so that no figure
hides in it. The plots of a page that is a notebook are drawn by its code: a plot is
named by its figure, as in ``plt.subplots(num="bias")``, and shown as
``![what it shows](<page>/bias.svg)``.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.parsers import expat

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

from site_tools.messages import LANGUAGES, Message, Problem, Refusal, problem
from site_tools.page.expressions import check_binding
from site_tools.page.figures import Figure, figure_touched
from site_tools.page.text import PageText
from site_tools.page.tree import SPOKEN, Flow, Piece, flows
from site_tools.page.unbound import as_shown
from site_tools.source.files import inside

Figures = dict[str, tuple[Figure, ...]]  # by the path of the picture
NOTEBOOKS = "notebooks"
LANGUAGE_OF_LABELS = re.compile(r'^language = "(\w+)"  # or "(\w+)"$', re.MULTILINE)
SVG_FILE = re.compile(r"[\w./-]+\.svg")
PICTURE_LINK = re.compile(rf"!\[(?P<alt>[^\]]*)\]\((?P<file>{SVG_FILE.pattern})\)")

# What a picture may be made of: shapes and text that follow light and dark.
REFERENCE = re.compile(r"url\(\s*['\"]?(.*?)['\"]?\s*\)")
ELEMENTS = re.compile(
    "svg|a|g|defs|symbol|use|title|desc|path|line|polyline|polygon|rect|circle|ellipse|"
    "text|tspan|textPath|marker|pattern|clipPath|mask|linearGradient|radialGradient|stop",
    re.IGNORECASE,
)
PAGE_OR_SECTION = re.compile(r"/(?:[a-z][a-z0-9_]*/)*(?:#[\w-]+)?")
HIDING = ("display", "visibility", "opacity", "hidden")
# Neither a place on the page nor a picture from elsewhere.
STYLE = re.compile(
    r"(?:(?:(?:fill|stroke|font|text)[a-z-]*|opacity|stop-color|stop-opacity|"
    r"--on-paper|--in-dark)"  # the two depths of a shade
    r"\s*:[^;:\"'@]*;?\s*)*"
)
PAINT = re.compile(r"(?<![-\w])(?:fill|stroke|color|stop-color)\s*:\s*([^;]+)")
THEMED = re.compile(
    r"none|inherit|transparent|currentColor|context-(fill|stroke)|(var|url)\(.*\)"
)


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
    """The problem of where a picture lies, if it has one."""
    line = page.line_with(f"]({src})")
    if not line or not SVG_FILE.fullmatch(src):
        line = line or page.line_with(src) or 1
        own, base = f"{page.id}.svg", posixpath.basename(page.id)
        return page.problem(line, "picture_elsewhere", src=src, own=own, base=base)
    if not inside(file, page.root / "snippets"):
        return page.problem(line, "picture_outside", src=src)
    if not file.is_file():
        name = file.relative_to(page.root).as_posix()
        return page.problem(line, "picture_missing", src=src, name=name)
    return None


def picture_tree(svg: str) -> BeautifulSoup:
    """A picture as a tree whose tags know their lines, as a browser reads it."""
    return BeautifulSoup(svg, "html.parser")


def picture_flows(tree: BeautifulSoup, language: str) -> list[Flow]:
    """The runs of text of a picture in a language."""
    return flows(tree, line_in_picture, language)


def read_picture(svg: str, path: str) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a picture, and a problem for each figure that is not."""
    tree = picture_tree(svg)
    if unread := _unreadable_picture(svg, tree, path):
        return [], [unread]
    figures: list[Figure] = []
    problems: list[Problem] = []
    for tag in tree.find_all(True):
        line = line_in_picture(tag)
        attributes = {name: str(tag[name]) for name in tag.attrs}
        for fault in element_faults(tag.name, attributes):
            problems.append(problem(path, line, "picture_refused", fault=fault))
        if tag.has_attr("data-is"):
            figure = Figure(line, tag.get_text().strip(), attributes["data-is"])
            try:
                if tag.find(True):
                    raise Refusal("number_unread", text=repr(tag.decode_contents()))
                check_binding(figure.shown, figure.expression)
                figures.append(figure)
            except ValueError as error:
                problems.append(problem(path, line, "picture_binding", why=error))
    for language in LANGUAGES:
        for flow in picture_flows(tree, language):
            problems += _unbound_in(flow, path)
            problems += figure_touched(flow, path)
    return figures, sorted(dict.fromkeys(problems), key=lambda found: found.line)


def _unreadable_picture(svg: str, tree: BeautifulSoup, path: str) -> Problem | None:
    """The problem that keeps a picture from being read: no element, or broken XML."""
    hidden = tree.find(string=lambda text: isinstance(text, PreformattedString))
    if isinstance(hidden, PreformattedString):  # a comment, a CDATA section, a DOCTYPE
        start = max(svg.find(f"{hidden.PREFIX}{hidden}"), 0)
        line = svg[:start].count("\n") + 1
        markup = hidden.PREFIX.strip()
        return problem(path, line, "picture_markup", markup=markup)
    try:
        expat.ParserCreate().Parse(svg, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        return problem(path, error.lineno, "picture_xml", why=reason)
    return None


def line_in_picture(node: object) -> int:
    """The line of a tag of a picture, or of the tag around a text."""
    tag = node if isinstance(node, Tag) else getattr(node, "parent", None)
    return getattr(tag, "sourceline", None) or 1


def _unbound_in(flow: Flow, path: str) -> Iterator[Problem]:
    """The figures of a text, its pieces read as one word and as several."""
    gaps: list[Piece] = []
    for piece in flow.pieces:
        gaps += [piece, piece._replace(kind="gap", text=" ")]
    for read in (flow, Flow(gaps)):
        for number, piece in read.figures(read.text):
            values: dict[str, Any] = {"figure": as_shown(number)}
            if piece.kind in SPOKEN:
                key, values["name"] = "picture_figure_in_attribute", piece.kind
            else:
                key, values["number"] = "picture_figure", number.text
            yield problem(path, piece.line, key, **values)


def element_faults(tag: str, attributes: Mapping[str, str]) -> Iterator[Message]:
    """Faults by which an element runs code, loads something or hides in the dark."""
    attributes = {name.lower(): value for name, value in attributes.items()}
    if not ELEMENTS.fullmatch(tag):
        yield Message("picture_element", {"tag": tag})
    elif tag.lower() == "a":
        target = attributes.get("href", "")
        if [*attributes] != ["href"] or not PAGE_OR_SECTION.fullmatch(target):
            yield Message("picture_link", {"attributes": dict(attributes)})
    else:
        if tag == "svg" and "viewbox" not in attributes:
            yield Message("picture_view_box", {})
        for name, value in attributes.items():
            if key := _attribute_fault(name, value):
                yield Message(key, {"attribute": f'{name}="{value}"', "tag": tag})


def _attribute_fault(name: str, value: str) -> str | None:
    if name.startswith("on"):
        return "picture_handler"
    if name in HIDING:
        return "picture_hiding"
    targets = [value] if name == "href" else REFERENCE.findall(value)
    if not all(target.startswith("#") for target in targets):
        return "picture_reference"
    if "\\" in value:
        return "picture_backslash"
    if name == "style" and not STYLE.fullmatch(value):
        return "picture_style"
    colours = PAINT.findall(value if name == "style" else f"{name}:{value}")
    if not all(THEMED.fullmatch(colour.strip()) for colour in colours):
        return "picture_colour"
    return None
