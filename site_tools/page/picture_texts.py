"""The texts of a picture as a reader of one language sees them.

Pieces in several elements are one text; a bound figure in it is one character.
"""

from collections.abc import Iterator
from typing import NamedTuple

from site_tools import numbers
from site_tools.page.picture_reading import Element, Words

LANGUAGES = ("zh", "en")
PLACE = "\ufffc"


class Letter(NamedTuple):
    """A character that a reader sees, its line, and the bound element if it is one."""

    text: str
    line: int
    bound: Element | None = None


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
