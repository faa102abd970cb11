"""Attribute lists, read by one strict parser.

Python-Markdown silently mangles an escaped quote inside a value; here whatever
is not exactly a class, an id or ``key="value"`` is refused.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""\s*(?:
        \.(?P<cls>[A-Za-z][\w-]*)
      | \#(?P<id>[A-Za-z][\w:-]*)
      | (?P<key>[A-Za-z][\w-]*)=
        (?:"(?P<double>[^"\\]*)"|'(?P<single>[^'\\]*)'|(?P<bare>[^\s"'\\{}]+))
    )(?=\s|$)""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Attributes:
    """Classes in order, the id if there is one, and the other keys."""

    classes: tuple[str, ...] = ()
    id: str | None = None
    values: dict[str, str] = field(default_factory=dict)


def parse(text: str) -> Attributes:
    """Read the inside of ``{ ... }``.

    Raises:
        ValueError: naming the first piece that is no class, id or ``key="value"``.

    Example:
        >>> parse('#why .cont data-is="a[0, 0]"').values
        {'data-is': 'a[0, 0]'}
    """
    classes: list[str] = []
    values: dict[str, str] = {}
    name: str | None = None
    position = 0
    while text[position:].strip():
        token = TOKEN.match(text, position)
        if token is None:
            piece = text[position:].strip()
            raise ValueError(
                f'attributes must be .class, #id or key="value" '
                f"without backslashes, got {piece!r}"
            )
        position = token.end()
        if token["cls"]:
            classes.append(token["cls"])
        elif token["id"]:
            name = token["id"]
        else:
            value = next(
                v for v in token.group("double", "single", "bare") if v is not None
            )
            values[token["key"]] = value
    return Attributes(tuple(classes), name, values)
