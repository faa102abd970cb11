"""Text in Markdown that stays text, whatever it holds."""

import re

TICKS = re.compile("`+")


def code(text: str) -> str:
    """A piece of a line.

    Example:
        >>> code("gamma"), code("a`b @all")
        ('`gamma`', '`` a`b @all ``')
    """
    line = " ".join(text.split())
    ticks = "`" * (_longest(line) + 1)
    space = " " if "`" in line else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Lines.

    Example:
        >>> print(fenced("```", "diff"))
        ````diff
        ```
        ````
    """
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest(text: str) -> int:
    return max(map(len, TICKS.findall(text)), default=0)
