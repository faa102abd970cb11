"""An SVG file as elements that know their lines; refused where text could hide."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat


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


class Refused(ValueError):
    """Why a file is no picture: line; what was found, what must hold, the fix."""

    def __init__(self, line: int, found: str, expected: str, fix: str) -> None:
        super().__init__(f"line {line}: {found}; must be {expected}")
        self.line, self.told = line, (found, expected, fix)


def read(svg: str) -> Element:
    """The outermost element of a picture.

    Raises:
        Refused: if the file is not well-formed XML, or holds what is neither an
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
        parser.CommentHandler = lambda *_: self._refuse("a comment")
        parser.StartCdataSectionHandler = lambda: self._refuse("a CDATA section")
        parser.StartDoctypeDeclHandler = lambda *_: self._refuse("a DOCTYPE")
        parser.EntityDeclHandler = lambda *_: self._refuse("an ENTITY")
        parser.ProcessingInstructionHandler = lambda name, _: self._refuse(
            f"a processing instruction <?{name}?>"
        )

    def root(self) -> Element:
        try:
            self._parser.Parse(self._source, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            fix = "correct the tag, the attribute or the reference on this line"
            raise Refused(error.lineno, reason, "well-formed XML", fix) from None
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

    def _refuse(self, what: str) -> None:
        expected = "elements and text alone, so that every figure is read"
        line = self._parser.CurrentLineNumber
        raise Refused(line, f"{what} in a picture", expected, f"remove {what}")
