"""What a fault says, in lines that fit a phone."""

import re
import textwrap
from typing import NoReturn

_WIDTH = 52
_INDEX = re.compile(r"(?<=[\d:]), (?=[-\d])")  # [0, 3] and [:, -T:] stay whole
_TYPE = "AssertionError: "  # what Python writes before the text


def fail(found: str, cause: str) -> NoReturn:
    """End with what was found, what usually causes it, and the remedy.

    Args:
        found: What is there, with its row and token.
        cause: What usually causes it, and how to mend that.

    Raises:
        AssertionError: always.

    Example:
        >>> fail("returns[0, 2] requires grad", "the target follows the critic")
        Traceback (most recent call last):
        AssertionError: returns[0, 2] requires grad: the
        target follows the critic
    """
    text = _INDEX.sub(",\N{NO-BREAK SPACE}", f"{_TYPE}{found}: {cause}")
    text = textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    raise AssertionError(text.replace("\N{NO-BREAK SPACE}", " ").removeprefix(_TYPE))


def place(name: str, row: int, token: int) -> str:
    """A slot as one writes it.

    Args:
        name: Of the tensor.
        row: Of the batch.
        token: Of the response.

    Returns:
        The name with its two indices.

    Example:
        >>> place("values", 0, 3)
        'values[0, 3]'
    """
    return f"{name}[{row}, {token}]"
