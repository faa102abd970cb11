"""The pictures of a page: SVG files whose text is read like the prose around them.

A number in a picture carries ``data-is`` on its element. Pieces in several elements
are one text, and a bound figure in it is one character. What is neither an element nor
a character is refused, so that no figure hides in it.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.parsers import expat

from site_tools import numbers
from site_tools.page.figures import Figure, as_shown, check_expression, unbound
from site_tools.problems import Problem, problem
from site_tools.say import LANGUAGES, Message, Refusal

PLACE = "\ufffc"
RAISED = f"[{numbers.SUPERSCRIPTS}⁻⁺]"
BEFORE = re.compile(
    rf"(?:[A-Za-z\d_.^/⁄{PLACE}+−-]|\d,|百分之\s*|(?:^|[=≈(:,，：（])\s*[-+−]\s*)\Z"
)
AFTER = re.compile(
    rf"[A-Za-z\d_^/⁄{PLACE}+−-]|{RAISED}|[.,][\d{PLACE}]"
    r"|\s*(?:[%‰十百千万亿]|per ?cent\b|个百分点|分之)"
    rf"|\s*[×x·*]\s*10(?:[\d^+−-]|{RAISED})"
)
PIECE = re.compile(
    r"\A(?:[.,](?:\d|\Z)|[%‰/⁄]|per ?cent\b|个百分点|分之|[eE][-+−]?\d|[×x·*]\s*10)"
    r"|(?:\d[.,]|百分之)\Z"
)


class Words(NamedTuple):
    """Characters between two tags, on one line of the file."""

    text: str
    line: int


@dataclass
class Element:
    """An element of the picture; ``start`` is the offset of its tag in the file."""

    name: str
    attributes: dict[str, str]
    start: int
    line: int
    content: list["Element | Words"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its characters; an element among them stands there as its tag."""
        return "".join(
            part.text if isinstance(part, Words) else f"<{part.name}>"
            for part in self.content
        )

    @property
    def text_line(self) -> int:
        """The line of its first character."""
        words = (p for p in self.content if isinstance(p, Words) and p.text.strip())
        return next((part.line for part in words), self.line)

    def walk(self) -> Iterator["Element"]:
        """The element and all in it, in the order of the file."""
        yield self
        for part in self.content:
            if isinstance(part, Element):
                yield from part.walk()


class Letter(NamedTuple):
    """A character that a reader sees, its line, and the bound element if it is one."""

    text: str
    line: int
    bound: Element | None = None


class Unreadable(Exception):
    """Why a file is not a picture: the line, and the key of what is said of it."""

    def __init__(self, line: int, key: str, **values: Any) -> None:
        super().__init__(f"line {line}: {key}")
        self.line, self.key, self.values = line, key, values


def read_picture(svg: str, path: str) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a picture, and a problem for each figure that is not.

    Args:
        svg: The file's text; a number in it carries ``data-is`` on its element.
        path: Its path, for the messages.
    """
    try:
        root = read(svg)
    except Unreadable as error:
        return [], [problem(path, error.line, error.key, **error.values)]
    figures: list[Figure] = []
    problems: list[Problem] = []
    for element in root.walk():
        problems += [
            problem(path, element.line, "picture_refused", fault=fault)
            for fault in faults(element.name, element.attributes)
        ]
        problems += _in_attributes(element, path)
        try:
            figures += _bound(element)
        except ValueError as error:
            at = element.text_line
            why = error.message if isinstance(error, Refusal) else str(error)
            problems.append(problem(path, at, "picture_binding", why=why))
    for text in texts(root):
        for language in LANGUAGES:
            joined, apart = (list(letters(text, language, gap)) for gap in ("", " "))
            problems += _unbound(joined, path) or _unbound(apart, path)
            problems += _touched(joined, path) + _pieces(joined, path)
    return figures, sorted(dict.fromkeys(problems), key=lambda found: found.line)


def _bound(element: Element) -> list[Figure]:
    expression = element.attributes.get("data-is")
    if expression is None:
        return []
    numbers.read(element.text)
    shown = element.text.strip()
    check_expression(expression, shown)
    return [Figure(element.start, element.text_line, shown, expression)]


def _in_attributes(element: Element, path: str) -> list[Problem]:
    """The figures in attributes that hold words, where nothing can be bound."""
    return [
        problem(
            path,
            element.line,
            "picture_figure_in_attribute",
            figure=as_shown(number),
            name=name,
        )
        for name, value in element.attributes.items()
        if name in ("title", "alt") or name.startswith("aria-")
        for number in unbound(value)
    ]


def _unbound(seen: list[Letter], path: str) -> list[Problem]:
    return [
        problem(
            path,
            seen[number.start].line,
            "picture_figure",
            figure=as_shown(number),
            number=number.text,
        )
        for number in unbound("".join(letter.text for letter in seen))
    ]


def _touched(seen: list[Letter], path: str) -> list[Problem]:
    """What stands at a bound figure and makes another number of it."""
    text = "".join(letter.text for letter in seen)
    return [
        problem(
            path,
            line,
            f"picture_figure_touched_{side}",
            number=bound.text.strip(),
            sign=repr(match[0].replace(PLACE, "…")),
        )
        for at, (_, line, bound) in enumerate(seen)
        if bound
        for side, match in (
            ("before", BEFORE.search(text[:at])),
            ("behind", AFTER.match(text[at + 1 :])),
        )
        if match
    ]


def _pieces(seen: list[Letter], path: str) -> list[Problem]:
    """The end of a number whose rest stands in another text."""
    text = "".join(letter.text for letter in seen).strip()
    match = PIECE.search(text)
    if not match:
        return []
    values = {"piece": repr(match[0]), "text": repr(text)}
    return [problem(path, seen[0].line, "picture_piece", **values)]


def read(svg: str) -> Element:
    """The outermost element of a picture.

    Raises:
        Unreadable: if the file is not well-formed XML, or holds what is neither an
            element nor a character, such as a comment.

    Example:
        >>> [element.name for element in read("<svg><text>a</text></svg>").walk()]
        ['svg', 'text']
    """
    return _Reading(svg).root()


class _Reading:
    def __init__(self, svg: str) -> None:
        self._source = svg.encode()
        self._outside = Element("", {}, 0, 1)
        self._open = [self._outside]
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = lambda name: self._open.pop()
        parser.CharacterDataHandler = self._words
        parser.CommentHandler = lambda *_: self._refuse("comment")
        parser.StartCdataSectionHandler = lambda: self._refuse("cdata")
        parser.StartDoctypeDeclHandler = lambda *_: self._refuse("doctype")
        parser.EntityDeclHandler = lambda *_: self._refuse("entity")
        parser.ProcessingInstructionHandler = lambda name, _: self._refuse(
            "instruction", name
        )

    def root(self) -> Element:
        try:
            self._parser.Parse(self._source, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise Unreadable(error.lineno, "picture_xml", why=reason) from None
        (root,) = (part for part in self._outside.content if isinstance(part, Element))
        return root

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        start = len(self._source[: self._parser.CurrentByteIndex].decode())
        line = self._parser.CurrentLineNumber
        element = Element(name.rpartition(":")[2], plain, start, line)
        self._open[-1].content.append(element)
        self._open.append(element)

    def _words(self, text: str) -> None:
        words = Words(text, self._parser.CurrentLineNumber)
        self._open[-1].content.append(words)

    def _refuse(self, what: str, name: str = "") -> None:
        markup = Message(f"picture_markup_{what}", {"name": name})
        line = self._parser.CurrentLineNumber
        raise Unreadable(line, "picture_markup", markup=markup)


def texts(element: Element) -> Iterator[Element]:
    """The outermost elements that hold characters."""
    words = [part.text for part in element.content if isinstance(part, Words)]
    if element.name in ("text", "title", "desc") or "".join(words).strip():
        if element.name != "style":
            yield element
        return
    for part in element.content:
        if isinstance(part, Element):
            yield from texts(part)


def letters(element: Element, language: str, gap: str) -> Iterator[Letter]:
    """What a reader of the language sees, ``gap`` around inner elements."""
    if "data-is" in element.attributes:
        yield Letter(PLACE, element.text_line, element)
        return
    for part in element.content:
        if isinstance(part, Words):
            narrow = part.text.translate(numbers.NARROW)
            yield from (Letter(character, part.line) for character in narrow)
        elif part.attributes.get("lang", language) == language:
            around = [Letter(gap, part.line)] if gap else []
            yield from [*around, *letters(part, language, gap), *around]


REFERENCE = re.compile(r"url\(\s*['\"]?(.*?)['\"]?\s*\)")
ELEMENTS = re.compile(
    "svg|a|g|defs|symbol|use|title|desc|path|line|polyline|polygon|rect|circle|ellipse|"
    "text|tspan|textPath|marker|pattern|clipPath|mask|linearGradient|radialGradient|stop"
)
PAGE = re.compile(r"/(?:[a-z][a-z0-9_]*/)*(?:#[\w-]+)?")
HIDING = ("display", "visibility", "opacity", "hidden")
# Neither a place on the page nor a picture from elsewhere.
STYLE = re.compile(
    r"(?:(?:(?:fill|stroke|font|text)[a-z-]*|opacity|stop-color|stop-opacity)"
    r"\s*:[^;:\"'@]*;?\s*)*"
)
PAINT = re.compile(r"(?<![-\w])(?:fill|stroke|color|stop-color)\s*:\s*([^;]+)")
THEMED = re.compile(
    r"none|inherit|transparent|currentColor|context-(fill|stroke)|(var|url)\(.*\)"
)


def faults(tag: str, attributes: Mapping[str, str]) -> Iterator[Message]:
    """What makes an element run code, load something or hide in the dark.

    Args:
        tag: Its name, without a namespace.
        attributes: Its attributes, the same.

    Example:
        >>> [fault.key for fault in faults("path", {"d": "M0 0", "fill": "red"})]
        ['picture_colour']
    """
    if not ELEMENTS.fullmatch(tag):
        yield Message("picture_element", {"tag": tag})
    elif tag == "a":
        if [*attributes] != ["href"] or not PAGE.fullmatch(attributes["href"]):
            yield Message("picture_link", {"attributes": dict(attributes)})
    else:
        if tag == "svg" and "viewBox" not in attributes:
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


FOLDER = "notebooks"
LANGUAGE = re.compile(r'^language = "(\w+)"  # or "(\w+)"$', re.MULTILINE)
FILE = re.compile(r"[\w./-]+\.svg")
PICTURE = re.compile(rf"!\[(?P<alt>[^\]]*)\]\((?P<file>{FILE.pattern})\)")


def is_notebook(page_id: str) -> bool:
    """Whether a page is a notebook, by its id.

    Example:
        >>> is_notebook("notebooks/gae_laboratory"), is_notebook("gae/variance")
        (True, False)
    """
    return page_id.startswith(f"{FOLDER}/")


def plots(text: str, page_id: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The plots that a page shows: the name of each, and its place in the text.

    Example:
        >>> [name for name, _ in plots("![Low](toy/bias.svg)", "notebooks/toy")]
        ['bias']
        >>> [name for name, _ in plots("![A post](post.svg)", "notebooks/toy")]
        []
    """
    if not is_notebook(page_id):
        return
    for match in PICTURE.finditer(text):
        folder, name = posixpath.split(match["file"])
        if folder == posixpath.basename(page_id):
            yield name.removesuffix(".svg"), match


def in_no_language(code: str) -> str:
    """The code of a notebook without what its two languages do not share.

    Example:
        >>> in_no_language('language = "zh"  # or "en"')
        'language = ...'
    """
    return LANGUAGE.sub("language = ...", code)
