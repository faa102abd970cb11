"""Small lies: a digit, a sign, a comparison that becomes another one."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# In LaTeX and in plain text, what is compared or added, and what it becomes.
SWAPS = {
    "+": "-",
    "-": "+",
    "−": "+",
    "=": r"\ne ",
    "<": ">",
    ">": "<",
    r"\le": r"\ge",
    r"\ge": r"\le",
    r"\ne": "=",
    r"\approx": r"\ne",
}
WORDS = "|".join(re.escape(word) for word in SWAPS if word.startswith("\\"))
FORMULA = re.compile(rf"\d|(?:{WORDS})(?![A-Za-z])|[-+−=<>]")
LABEL = re.compile(r"\\label\{[^}]*\}|\\(?:begin|end)\{[^}]*\}")
FIGURE = re.compile(r"\d|(?<=[\d.])\s*[-+−×]\s*(?=\d)")
OUTPUT = re.compile(r"\d|[-+](?=[\d.])|[<>](?!\w)")


class Change(NamedTuple):
    """What stands between two offsets of a text becomes something else."""

    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        """The text with the change in it."""
        return text[: self.start] + self.new + text[self.end :]


def in_formula(latex: str) -> Iterator[Change]:
    r"""Each digit, sign and comparison of a formula, its label left out.

    Example:
        >>> [c.applied(r"a_0 \\le 1") for c in in_formula(r"a_0 \\le 1")]
        ['a_1 \\\\le 1', 'a_0 \\\\ge 1', 'a_0 \\\\le 2']
    """
    hidden = [match.span() for match in LABEL.finditer(latex)]
    for match in FORMULA.finditer(latex):
        if not any(start <= match.start() < end for start, end in hidden):
            change = _change(match)
            last = change.end == len(latex)  # a formula ends in no blank
            yield change._replace(new=change.new.strip()) if last else change


def in_figure(shown: str) -> Iterator[Change]:
    """Each digit of a figure and each sign within; and the one before it.

    Example:
        >>> [c.applied("0.5") for c in in_figure("0.5")]
        ['1.5', '0.6', '-0.5']
    """
    for match in FIGURE.finditer(shown):
        yield _change(match)
    if shown[:1] in "-−":
        yield Change(0, 1, "")
    elif re.search("[1-9]", shown) and "=" not in shown:  # -0 is 0
        yield Change(0, 0, "-")


def in_output(printed: str) -> Iterator[Change]:
    """Each digit, sign and comparison of what a block prints."""
    for match in OUTPUT.finditer(printed):
        yield _change(match)


def in_name(name: str) -> Iterator[Change]:
    """A name that is spelled otherwise.

    Example:
        >>> [c.applied("why") for c in in_name("why")]
        ['whyx']
    """
    yield Change(len(name), len(name), "x")


def _change(match: re.Match[str]) -> Change:
    old = match[0]
    if old.isdigit():
        new = str((int(old) + 1) % 10)
    elif old.strip() == "×":
        new = old.replace("×", "+")
    else:
        new = old.replace(old.strip(), SWAPS[old.strip()])
    return Change(*match.span(), new)
