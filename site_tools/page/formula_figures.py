"""The figures that a reader sees in LaTeX, whatever it is spelled with."""

import re
from collections.abc import Iterator

from site_tools.numbers import find

FORMS = ("a decimal", "a percentage", "a number in scientific notation")
# In this order: each pattern works on what the ones before it left.
SEEN = [
    (r"\\%", "%"),
    (r"\\(?:times|cdot)(?![A-Za-z])", "×"),
    (r"\\(?:math|text|mbox|hbox)[A-Za-z]*|\\[,:;!> ]|[{}$~]", ""),
    (r"\\[A-Za-z]+|(?<!\d)[A-Za-z_]+", " "),
    (r"(?<=[\d.×^])\s+(?=[\d.×^%])", ""),
]
POWER = re.compile(r"(?<![\d.])10\^[-+−]?\d+")


def in_formula(latex: str) -> Iterator[str]:
    r"""Every decimal, percentage and power of ten; whole numbers are none.

    Example:
        >>> list(in_formula(r"\gamma = 0{.}5, 99\%, 10^{-3}, \tfrac{1}{2}"))
        ['0.5', '99%', '10^-3']
    """
    for pattern, shown in SEEN:
        latex = re.sub(pattern, shown, latex)
    yield from (number.text for number in find(latex) if number.form in FORMS)
    yield from POWER.findall(latex)
