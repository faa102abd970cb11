"""Attribute lists and info strings, read by one strict parser.

Python-Markdown silently mangles an escaped quote inside a value; here whatever
is not exactly a class, an id or ``key="value"`` is refused.
"""

import re
from dataclasses import dataclass, field

from site_tools.say import Refusal

TOKEN = re.compile(
    r"""\s*(?:
        \.(?P<cls>[A-Za-z][\w-]*)
      | \#(?P<id>[A-Za-z][\w:-]*)
      | (?P<key>[A-Za-z][\w-]*)=
        (?:"(?P<double>[^"\\]*)"|'(?P<single>[^'\\]*)'|(?P<bare>[^\s"'\\{}]+))
    )(?=\s|$)""",
    re.VERBOSE,
)


FIRST_WORD = re.compile(r"\.?(?P<language>[\w#+-]+)(?=\s|$)")
OPTION = re.compile(r'\s*(?P<text>[A-Za-z_][\w-]*="[^"\\]*")(?=\s|$)')


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
            raise Refusal("attributes_form", text=repr(piece))
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


def read_info(info: str) -> tuple[str, Attributes]:
    """Read ``python``, ``python title="x"``, ``{ .python .cont }`` and their mixtures.

    Raises:
        ValueError: if something else stands there.

    Example:
        >>> read_info('{ .python .raises }')[1].classes
        ('raises',)
    """
    word = FIRST_WORD.match(info)
    rest = info[word.end() :].strip() if word else info
    if rest.startswith("{") and rest.endswith("}"):
        attributes = parse(rest[1:-1])
    else:
        attributes = _options(rest)
    if word:
        return word["language"].lower(), attributes
    language, *classes = attributes.classes or ("",)
    return language.lower(), Attributes(
        tuple(classes), attributes.id, attributes.values
    )


def _options(text: str) -> Attributes:
    position = 0
    while text[position:].strip():
        option = OPTION.match(text, position)
        if option is None:
            raise Refusal("info_form", text=repr(text))
        position = option.end()
    return parse(text)
