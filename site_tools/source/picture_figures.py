"""The figures inside a picture: text of an SVG file, bound like figures in prose."""

import re

from site_tools import numbers
from site_tools.problems import Problem
from site_tools.source.figures import Figure
from site_tools.source.prose import line_of

ELEMENT = re.compile(r"<(?P<name>[\w:]+)(?P<attributes>[^<>]*)>(?P<text>[^<>]+)")
EXPRESSION = re.compile(r'\bdata-is="([^"]*)"')


def read_picture(svg: str, path: str) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a picture, and a problem for each figure that is not.

    Args:
        svg: The file's text; a number in it carries ``data-is`` on its element.
        path: Its path, for the messages.
    """
    figures: list[Figure] = []
    problems: list[Problem] = []
    for match in ELEMENT.finditer(svg):
        line = line_of(svg, match.start("text"))
        expression = EXPRESSION.search(match["attributes"])
        shown = match["text"].strip()
        if expression:
            figures.append(Figure(match.start(), line, shown, expression[1]))
        elif match["name"] != "style":
            problems += _unbound(shown, path, line)
    return figures, problems


def _unbound(shown: str, path: str, line: int) -> list[Problem]:
    return [
        Problem(
            path,
            line,
            f"{number.text} ({number.form}) in a picture",
            "every figure bound to an expression",
            f'write <tspan data-is="expression">{number.text}</tspan>',
        )
        for number in numbers.find(shown)
        if not (number.form == "worked arithmetic" and numbers.holds(number.text))
    ]
