"""Numbers as people write them: found in a text, and compared with a value."""

import ast
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
WHOLE = r"(?:\d{1,3}(?:,\d{3})+|\d+)"
SIGNED = rf"[-−+]?(?:{WHOLE}(?:\.\d+)?|\.\d+)"
NARROW = str.maketrans("０１２３４５６７８９．％＋－＝／", "0123456789.%+-=/")
HAN = "零〇一二两三四五六七八九十百千"
POWER = rf"(?:\^\{{?[-−+]?\d+\}}?|[⁻⁺]?[{SUPERSCRIPTS}]+)"
FORMS = {
    "worked arithmetic": (
        rf"{SIGNED}(?:\s*[-+−×*/÷·]\s*{SIGNED})+\s*[=＝≈]\s*{SIGNED}"
    ),
    "a version": r"\d+\.\d+\.\d+(?:\.?\w+)*",
    "a number in scientific notation": (
        rf"{SIGNED}(?:[eE][-+−]?\d+|\s*[×x·*]\s*10{POWER})|10[⁻⁺]?[{SUPERSCRIPTS}]+"
    ),
    "a percentage": (
        rf"(?:{SIGNED}|[{HAN}]+)\s*(?:[%％‰]|percent\b|per cent\b|pct\b|个百分点)"
        rf"|百分之[{HAN}\d点.]+|[{HAN}]+成(?![立为功本果了分])"
    ),
    "a fraction": rf"\d+\s*[/⁄]\s*\d+|[¼-¾⅐-⅞]|[{HAN}]+分之[{HAN}]+",
    "a decimal": rf"[-−+]?{WHOLE}?\.\d+|[{HAN}]+点[{HAN}]+",
}
FIGURE = re.compile(
    r"(?<![A-Za-z0-9_.])(?:"
    + "|".join(f"(?P<f{i}>{form})" for i, form in enumerate(FORMS.values()))
    + ")"
)
EQUALS = re.compile("[=＝≈]")
COUNT = re.compile(rf"(?<![A-Za-z0-9_.]){SIGNED}")


@dataclass(frozen=True)
class Number:
    """A number written in a text."""

    start: int
    end: int
    text: str
    form: str


def find(text: str, counts: bool = False) -> Iterator[Number]:
    """Every figure in a text; with ``counts`` every whole number as well (tables).

    Example:
        >>> [n.text for n in find("约 0.651，即 65.1%，1+1=2")]
        ['0.651', '65.1%', '1+1=2']
    """
    normal = text.translate(NARROW)
    taken = normal
    for match in FIGURE.finditer(normal):
        index = next(i for i in range(len(FORMS)) if match[f"f{i}"] is not None)
        yield Number(match.start(), match.end(), match[0], list(FORMS)[index])
        taken = taken[: match.start()] + " " * len(match[0]) + taken[match.end() :]
    if counts:
        for match in COUNT.finditer(taken):
            yield Number(match.start(), match.end(), match[0], "a number in a table")


def agrees(shown: str, value: int | float) -> bool:
    """Whether the value rounds to what is shown.

    It does if it is within half a unit of the last digit shown. A whole number is a
    count and must be exact; for worked arithmetic the arithmetic must hold too, and
    the value is its right-hand side.

    Raises:
        ValueError: if what is shown, or the value, is no number.

    Example:
        >>> agrees("0.651", 0.6512), agrees("0.652", 0.6512), agrees("65.1%", 0.6512)
        (True, False, True)
    """
    if EQUALS.search(shown):
        return holds(shown) and agrees(_sides(shown)[1], value)
    number, unit = read(shown)
    if value != value or abs(value) == float("inf"):
        raise ValueError(f"the value is {value}")
    exact = re.fullmatch(rf"[-−+]?{WHOLE}", shown.strip()) or number == 0 != value
    most = Fraction(0) if exact else unit / 2
    return abs(number - Fraction(value)) <= most + unit / 10**6


def holds(arithmetic: str) -> bool:
    """Whether worked arithmetic such as ``8 + 6 = 14`` is right; only ≈ may round.

    Example:
        >>> holds("1+1=2"), holds("0.7 − 0.1 = 0.5"), holds("2/3 ≈ 0.67")
        (True, False, True)
    """
    left, right = _sides(arithmetic)
    for sign, plain in zip("−×÷·", "-*/*", strict=True):
        left = left.replace(sign, plain)
    left = re.sub(r"(?<![\d.])0+(?=\d)", "", left.replace(",", ""))
    number, unit = read(right)
    try:
        gap = abs(number - _calculate(ast.parse(left.strip(), mode="eval").body))
    except ZeroDivisionError:
        return False
    return gap <= (unit / 2 if "≈" in arithmetic else 0)


def _sides(arithmetic: str) -> tuple[str, str]:
    sides = EQUALS.split(arithmetic)
    if len(sides) != 2:
        raise ValueError(f"{arithmetic!r} must have one equals sign")
    return sides[0], sides[1]


def _calculate(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Fraction(str(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_calculate(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _calculate(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _calculate(left) + _calculate(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _calculate(left) - _calculate(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _calculate(left) * _calculate(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _calculate(left) / _calculate(right)
    raise ValueError(f"not worked arithmetic: {ast.unparse(node)}")


def _lowered(power: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", power[0]).replace("−", "-")


def read(shown: str) -> tuple[Fraction, Fraction]:
    """A written number and the unit of its last digit.

    Raises:
        ValueError: if it is no number.
    """
    text = shown.translate(NARROW).strip().replace("−", "-").replace("⁄", "/")
    text = re.sub(rf"(?<=10)([⁻⁺]?[{SUPERSCRIPTS}]+)$", _lowered, text)
    if match := re.fullmatch(r"10\^([-+]?\d+)", text):
        return Fraction(10) ** int(match[1]), Fraction(1, 10**9)
    if re.fullmatch("[¼-¾⅐-⅞]", text):
        text = unicodedata.normalize("NFKC", text).replace("⁄", "/")
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    if match := re.fullmatch(r"(\d+)\s*/\s*(\d+)", text):
        return Fraction(int(match[1]), int(match[2])), Fraction(1, 10**9)
    scale = Fraction(1)
    if match := re.fullmatch(r"(.*?)\s*(%|‰|percent|per cent|pct|个百分点)", text):
        text, scale = match[1], Fraction(1, 1000 if match[2] == "‰" else 100)
    if match := re.fullmatch(r"(.*?)\s*(?:[×x·*]\s*10\^?\{?|[eE])([-+]?\d+)\}?", text):
        text, scale = match[1], scale * Fraction(10) ** int(match[2])
    if not re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)", text):
        raise ValueError(f"{shown!r} is not a number")
    digits = len(text.partition(".")[2])
    return Fraction(text) * scale, scale / 10**digits


# What LaTeX shows, in this order: each pattern works on what the ones before it left.
LATEX = [
    (r"\\%", "%"),
    (r"\\(?:times|cdot)(?![A-Za-z])", "×"),
    (r"\\(?:math|text|mbox|hbox)[A-Za-z]*|\\[,:;!> ]|[{}$~]", ""),
    (r"\\[A-Za-z]+|(?<!\d)[A-Za-z_]+", " "),
    (r"(?<=[\d.×^])\s+(?=[\d.×^%])", ""),
]
IN_LATEX = ("a decimal", "a percentage", "a number in scientific notation")
POWER_OF_TEN = re.compile(r"(?<![\d.])10\^[-+−]?\d+")


def in_formula(latex: str) -> Iterator[str]:
    r"""Every decimal, percentage and power of ten; whole numbers are not figures.

    Example:
        >>> list(in_formula(r"\gamma = 0{.}5, 99\%, 10^{-3}, \tfrac{1}{2}"))
        ['0.5', '99%', '10^-3']
    """
    for pattern, shown in LATEX:
        latex = re.sub(pattern, shown, latex)
    yield from (number.text for number in find(latex) if number.form in IN_LATEX)
    yield from POWER_OF_TEN.findall(latex)
