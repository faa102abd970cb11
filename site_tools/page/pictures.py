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
from typing import Any
from xml.parsers import expat

from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString

from site_tools.page.bindings import Figure, as_shown, check_binding, touching, unbound
from site_tools.page.files import inside
from site_tools.page.rendered import Flow, Piece, Text, flows
from site_tools.say import LANGUAGES, Message, Problem, Refusal, problem

Figures = dict[str, tuple[Figure, ...]]  # by the path of the picture
FOLDER = "notebooks"
LANGUAGE = re.compile(r'^language = "(\w+)"  # or "(\w+)"$', re.MULTILINE)
FILE = re.compile(r"[\w./-]+\.svg")
PICTURE = re.compile(rf"!\[(?P<alt>[^\]]*)\]\((?P<file>{FILE.pattern})\)")

# What a picture may be made of: shapes and text that follow light and dark.
REFERENCE = re.compile(r"url\(\s*['\"]?(.*?)['\"]?\s*\)")
ELEMENTS = re.compile(
    "svg|a|g|defs|symbol|use|title|desc|path|line|polyline|polygon|rect|circle|ellipse|"
    "text|tspan|textPath|marker|pattern|clipPath|mask|linearGradient|radialGradient|stop",
    re.IGNORECASE,
)
PAGE = re.compile(r"/(?:[a-z][a-z0-9_]*/)*(?:#[\w-]+)?")
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
    """Whether a page is a notebook, whose code runs once, from top to bottom."""
    folder, _, name = page_id.partition("/")
    return folder == FOLDER and name.removesuffix(".md") != "index"


def plots(text: str, page_id: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The plots that a page shows: the name of each, and its place in the text."""
    for match in PICTURE.finditer(text) if is_notebook(page_id) else ():
        folder, name = posixpath.split(match["file"])
        if folder == posixpath.basename(page_id):
            yield name.removesuffix(".svg"), match


def in_no_language(code: str) -> str:
    """The code of a notebook without the language of its labels."""
    return LANGUAGE.sub("language = ...", code)


def read_pictures(page: Text) -> tuple[Figures, list[Problem]]:
    """The figures of the pictures that lie beside the page's code, by their paths."""
    pictures: Figures = {}
    problems: list[Problem] = []
    drawn = {match["file"] for _, match in plots(page.text, page.id)}
    snippets = page.root / "snippets"
    for image in page.tree.select("img"):
        src = str(image.get("src", ""))
        if src in drawn:
            continue
        line = page.line_with(f"]({src})")
        file = (snippets / page.id).parent / src
        beside = inside(file, snippets)
        name = file.relative_to(page.root).as_posix() if beside else src
        key = ""
        if not line or not FILE.fullmatch(src):
            key = "picture_elsewhere"
        elif not beside:
            key = "picture_outside"
        elif not file.is_file():
            key = "picture_missing"
        if key:
            line = line or page.line_with(src) or 1
            own = {"own": f"{page.id}.svg", "base": posixpath.basename(page.id)}
            problems.append(page.problem(line, key, src=src, name=name, **own))
            continue
        figures, wrong = read_picture(file.read_text("utf-8"), name)
        pictures[name] = tuple(figures)
        problems += wrong
    return pictures, problems


def picture_tree(svg: str) -> BeautifulSoup:
    """A picture as a tree whose tags know their lines, as a browser reads it."""
    return BeautifulSoup(svg, "html.parser")


def read_picture(svg: str, path: str) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a picture, and a problem for each figure that is not."""
    tree = picture_tree(svg)
    hidden = tree.find(string=lambda text: isinstance(text, PreformattedString))
    if isinstance(hidden, PreformattedString):  # a comment, a CDATA section, a DOCTYPE
        markup = hidden.PREFIX.strip()
        line = svg[: max(svg.find(f"{hidden.PREFIX}{hidden}"), 0)].count("\n") + 1
        return [], [problem(path, line, "picture_markup", markup=markup)]
    try:
        expat.ParserCreate().Parse(svg, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        return [], [problem(path, error.lineno, "picture_xml", why=reason)]
    figures: list[Figure] = []
    problems: list[Problem] = []
    for tag in tree.find_all(True):
        attributes = {name: str(tag[name]) for name in tag.attrs}
        problems += [
            problem(path, line_in_picture(tag), "picture_refused", fault=fault)
            for fault in faults(tag.name, attributes)
        ]
        if tag.has_attr("data-is"):
            shown, line = tag.get_text().strip(), line_in_picture(tag)
            try:
                if tag.find(True):
                    raise Refusal("number_unread", text=repr(tag.decode_contents()))
                check_binding(shown, attributes["data-is"])
                figures.append(Figure(line, shown, attributes["data-is"]))
            except ValueError as error:
                problems.append(problem(path, line, "picture_binding", why=error))
    for language in LANGUAGES:
        for flow in flows(tree, language):
            problems += _in_flow(flow, path)
            problems += touching(flow, path, lambda piece: line_in_picture(piece.node))
    return figures, sorted(dict.fromkeys(problems), key=lambda found: found.line)


def line_in_picture(node: object) -> int:
    """The line of a tag of a picture, or of the tag around a text."""
    tag = node if isinstance(node, Tag) else getattr(node, "parent", None)
    return getattr(tag, "sourceline", None) or 1


def _in_flow(flow: Flow, path: str) -> Iterator[Problem]:
    """The figures of a text, its pieces read as one word and as several."""
    gaps = [part for each in flow.pieces for part in (each, Piece("", " ", each.node))]
    for read in (flow, Flow(gaps)):
        for number in unbound(read.text):
            piece = read.piece_at(number.start)
            values: dict[str, Any] = {"figure": as_shown(number), "name": piece.kind}
            in_words = piece.kind not in ("text", "bound", "code", "")
            key = "picture_figure_in_attribute" if in_words else "picture_figure"
            line = line_in_picture(piece.node)
            yield problem(path, line, key, number=number.text, **values)


def faults(tag: str, attributes: Mapping[str, str]) -> Iterator[Message]:
    """What makes an element run code, load something or hide in the dark."""
    attributes = {name.lower(): value for name, value in attributes.items()}
    if not ELEMENTS.fullmatch(tag):
        yield Message("picture_element", {"tag": tag})
    elif tag.lower() == "a":
        if [*attributes] != ["href"] or not PAGE.fullmatch(attributes["href"]):
            yield Message("picture_link", {"attributes": dict(attributes)})
    else:
        if tag == "svg" and "viewbox" not in attributes:
            yield Message("picture_view_box", {})
        for name, value in attributes.items():
            if key := _fault(name, value):
                yield Message(key, {"attribute": f'{name}="{value}"', "tag": tag})


def _fault(name: str, value: str) -> str | None:
    if name.lower().startswith("on"):
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
