"""The figures inside a picture: text of an SVG file, bound like figures in prose."""

import re

from site_tools import numbers
from site_tools.page import picture_rules
from site_tools.page.expressions import check_expression
from site_tools.page.figures import Figure
from site_tools.page.picture_reading import Element, Refused, read
from site_tools.page.picture_texts import LANGUAGES, PLACE, Letter, letters, texts
from site_tools.problems import Problem, problem

RAISED = f"[{numbers.SUPERSCRIPTS}⁻⁺]"
BEFORE = re.compile(
    rf"(?:[A-Za-z\d_.^/⁄{PLACE}+−-]|\d,|百分之\s*|(?:^|[=≈(:,，：（])\s*[-+−]\s*)\Z"
)
AFTER = re.compile(
    rf"[A-Za-z\d_^/⁄{PLACE}+−-]|{RAISED}|[.,][\d{PLACE}]"
    r"|\s*(?:[%‰十百千万亿]|per ?cent\b|个百分点|分之)"
    rf"|\s*[×x·*]\s*10(?:[\d^+−-]|{RAISED})"
)
PIECE = re.compile(
    r"\A(?:[.,](?:\d|\Z)|[%‰/⁄]|per ?cent\b|个百分点|分之|[eE][-+−]?\d|[×x·*]\s*10)"
    r"|(?:\d[.,]|百分之)\Z"
)


def read_picture(svg: str, path: str) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a picture, and a problem for each figure that is not.

    Args:
        svg: The file's text; a number in it carries ``data-is`` on its element.
        path: Its path, for the messages.
    """
    try:
        root = read(svg)
    except Refused as refused:
        return [], [Problem(path, refused.line, *refused.told)]
    figures: list[Figure] = []
    problems: list[Problem] = []
    for element in root.walk():
        problems += [
            problem(path, element.line, "picture_refused", fault=fault)
            for fault in picture_rules.faults(element.name, element.attributes)
        ]
        problems += _in_attributes(element, path)
        try:
            figures += _bound(element)
        except ValueError as error:
            expected = "one number in an element with data-is, and no element in it"
            fix = 'write <tspan data-is="expression">0.5</tspan>'
            at = element.text_line
            problems.append(Problem(path, at, str(error), expected, fix))
    for text in texts(root):
        for language in LANGUAGES:
            joined, apart = (list(letters(text, language, gap)) for gap in ("", " "))
            problems += _unbound(joined, path) or _unbound(apart, path)
            problems += _touched(joined, path) + _pieces(joined, path)
    return figures, sorted(dict.fromkeys(problems), key=lambda found: found.line)


def _bound(element: Element) -> list[Figure]:
    expression = element.attributes.get("data-is")
    if expression is None:
        return []
    numbers.read(element.text)
    shown = element.text.strip()
    check_expression(expression, shown)
    return [Figure(element.start, element.text_line, shown, expression)]


def _in_attributes(element: Element, path: str) -> list[Problem]:
    """The figures in attributes that hold words, where nothing can be bound."""
    return [
        Problem(
            path,
            element.line,
            f"{number.text} ({number.form}) in {name} in a picture",
            "every figure bound to an expression",
            f"leave it out of {name}; bind it in a <tspan>",
        )
        for name, value in element.attributes.items()
        if name in ("title", "alt") or name.startswith("aria-")
        for number in numbers.find(value)
    ]


def _unbound(seen: list[Letter], path: str) -> list[Problem]:
    return [
        Problem(
            path,
            seen[number.start].line,
            f"{number.text} ({number.form}) in a picture",
            "every figure bound to an expression",
            f'write <tspan data-is="expression">{number.text}</tspan>',
        )
        for number in numbers.find("".join(letter.text for letter in seen))
        if not (number.form == "worked arithmetic" and numbers.holds(number.text))
    ]


def _touched(seen: list[Letter], path: str) -> list[Problem]:
    """What stands at a bound figure and makes another number of it."""
    text = "".join(letter.text for letter in seen)
    return [
        Problem(
            path,
            line,
            f"{bound.text.strip()} with {match[0].replace(PLACE, '…')!r} {side}",
            "a bound figure that nothing beside it changes",
            "write the whole number inside its <tspan>, or a space between",
        )
        for at, (_, line, bound) in enumerate(seen)
        if bound
        for side, match in (
            ("before it", BEFORE.search(text[:at])),
            ("behind it", AFTER.match(text[at + 1 :])),
        )
        if match
    ]


def _pieces(seen: list[Letter], path: str) -> list[Problem]:
    """The end of a number whose rest stands in another text."""
    text = "".join(letter.text for letter in seen).strip()
    match = PIECE.search(text)
    if not match:
        return []
    found = f"{match[0]!r}, a piece of a number, at an end of {text!r}"
    fix = 'write the number whole, as in <tspan data-is="expression">0.5</tspan>'
    return [Problem(path, seen[0].line, found, "a number within one text", fix)]
