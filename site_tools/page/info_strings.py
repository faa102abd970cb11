"""The info string of a fence, in every spelling that Material accepts."""

import re

from site_tools.page.attributes import Attributes, parse

FIRST_WORD = re.compile(r"\.?(?P<language>[\w#+-]+)(?=\s|$)")
OPTION = re.compile(r'\s*(?P<text>[A-Za-z_][\w-]*="[^"\\]*")(?=\s|$)')


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
            raise ValueError(
                f"an info string must be a language, options as in "
                f'title="x", or {{ .python .class }}, got {text!r}'
            )
        position = option.end()
    return parse(text)
