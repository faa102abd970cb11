"""Numbers as people write them: found in a text, and compared with a value."""

import ast
import operator
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from site_tools.messages import Refusal

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
WHOLE = r"(?:\d{1,3}(?:,\d{3})+|\d+)"
SIGNED = rf"[-−+]?(?:{WHOLE}(?:\.\d+)?|\.\d+)"
POWER = rf"(?:(?:\^|\*\*)\s*\{{?[-−+]?\d+\}}?|[⁻⁺]?[{SUPERSCRIPTS}]+)"
FULL_WIDTH = str.maketrans("０１２３４５６７８９．％＋－＝／⁄", "0123456789.%+-=//")
# Digits, signs and points of other alphabets, as the ones in ASCII that they mean.
NARROW = str.maketrans({"٫": ".", "∕": "/", "⁄": "/", "∶": ":", "〇": "零"})
for _code in (*range(0x80, 0x3300), *range(0xFF00, 0xFFF0), *range(0x1D7CE, 0x1D800)):
    _plain = unicodedata.normalize("NFKC", chr(_code))
    if len(_plain) == 1 and chr(_code) not in SUPERSCRIPTS:
        if _plain.isdecimal():
            NARROW[_code] = str(int(_plain))
        elif _plain in ".%+=/-" and _plain != chr(_code):
            NARROW[_code] = _plain

# What stands for a name or a formula, beside which a number is part of it.
NAME = "\ufffb"
NUMERAL = "零〇一二两三四五六七八九十百千万亿廿壹贰叁肆伍陆柒捌玖拾佰仟"
ONES = "one|two|three|four|five|six|seven|eight|nine"
NUMBER_WORDS = (
    f"zero|nought|{ONES}|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    "|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million"
)
NUMBER_WORD = rf"\b(?:{NUMBER_WORDS})(?:[ -](?:{NUMBER_WORDS}))*\b"
COUNTED = rf"(?:{WHOLE}|{NUMBER_WORD}|[{NUMERAL}]+)"
PART_WORDS = (
    "third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|(?:ten|hundred|thousand)th"
)
# A third of it, and not the third run.
PART = rf"(?:{PART_WORDS})(?:s\b|\b(?!\s+(?!of|as|less|more|the|and|or|to|is|are)\w))"
# Not the lower half of a picture, nor what is half right.
HALF = (
    r"(?<!upper\s)(?<!lower\s)(?<!first\s)(?<!second\s)(?<!other\s)(?<!middle\s)"
    r"(?<!latter\s)(?<!last\s)"
    r"\b(?:half|halves)\b"
    r"(?![ -](?:right|true|written|done|an hour|open|precision|a unit))"
    r"|(?<![到那对前后上下另])(?<!中间)一半"
)
# How often something is done is no figure.
OFTEN = r"(?!,?\s(?:each|every|per|in a row)\b)"
# How much larger or smaller something is; one that is counted, as in "runs twice", is
# no figure, nor is double precision.
GROWN = (
    r"\b(?:doubles|doubled|triples|tripled|quadrupled|halved)\b"
    r"|\bdouble (?:the|that|its|their|what|of)\b"
    r"|\b(?:roughly|about|nearly|almost|than|over|is|are|was|were) double\b"
    r"(?! precision|-)"
    r"|\b(?:twice|thrice) (?:as|the|those|that of|its|what)\b"
    rf"|\b(?:an|{COUNTED}) orders? of magnitude\b"
    rf"|[\d{NUMERAL}]+\s*个数量级"
    rf"|翻了?(?:不止|将近|几乎|近)?[{NUMERAL}]番|翻番|翻倍|加倍(?!努力|小心)|减半"
)
# By one or two is a term of a formula, as is one standard deviation.
MULTIPLIED = (
    rf"\bmultiplied by (?!one\b|two\b|[012]\b){COUNTED}\b"
    rf"|乘以\s*(?![012]\b|[一二两])[\d{NUMERAL}]+"
)
SIGMAS = (
    rf"(?!one\b){COUNTED}[ -]?(?:sigmas?\b|σ|standard deviations?\b)"
    rf"|(?!一)[\d{NUMERAL}]+\s*个?(?:标准差|σ|西格玛)"
)
# Alone before a number, as in ×2: behind a number or a name it is a product, or a size.
FACTOR = rf"\d)\]{NAME}\ufffc"
TIMES_ALONE = rf"(?<![A-Za-z{FACTOR}])(?<![{FACTOR}]\s)×\s?{WHOLE}(?!\s*×)"
TERM = rf"[({{√\s]*{SIGNED}(?:\s*{POWER}|!)?[)\s]*"
SUM = rf"{TERM}(?:(?:[-+−×*/÷·]| – )\s*{TERM})*"
RELATION = "[=≈<>≤≥≠]"
ORDERS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": operator.eq,
    "≠": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "≤": operator.le,
    "≥": operator.ge,
}
ARITHMETIC = re.compile(rf"(?<![A-Za-z0-9_.,·]){SUM}(?:{RELATION}{SUM})+")
FORMS = {
    "a version": r"\bv\d+\.\d+(?:\.\d+)*|\d+\.\d+\.\d+(?:\.?\w+)*",
    "a number in scientific notation": (
        rf"{SIGNED}(?:[eE][-+−]?\d+|\s*[×x·*]\s*10{POWER})|\d+(?:\^|\*\*)\{{?[-−+]?\d+"
        rf"|10[⁻⁺]?[{SUPERSCRIPTS}]+"
    ),
    "a percentage": (
        rf"(?:{SIGNED}|{NUMBER_WORD}|[{NUMERAL}]+)[ -]?\s*"
        r"(?:[%‰]|per ?cent\b|pct\b|个百分点"
        rf"|(?:percentage |basis )?points\b(?! (?:up|down|at|to|out))|pp\b|bps\b)"
        rf"|[百千万]分之[{NUMERAL}\d点.]+"
        rf"|[{NUMERAL}\d]+\s?[成折](?![立为功本果了分员绩叠线返断]|不变)|十有八九"
    ),
    "a multiple": (
        rf"(?:{WHOLE}|\b(?:{NUMBER_WORDS}))[ -]?fold\b"
        rf"|(?:{WHOLE}|{NUMBER_WORD})[ -]times\b{OFTEN}"
        rf"|{WHOLE}\s?×(?!\s*[\d(])"
        rf"|{WHOLE}[xX]\b|[\d{NUMERAL}]+\s*(?:多)?倍半?|\bfactor of {COUNTED}"
        rf"|{TIMES_ALONE}|{GROWN}|x(?!86){WHOLE}\b|{MULTIPLIED}|{SIGMAS}"
    ),
    "arithmetic in words": (
        rf"{COUNTED} (?:plus|minus|times|divided by) {COUNTED}"
        rf"|{SIGNED}(?:\s*[-+−×*/÷]\s*{SIGNED})+\s+(?:is|are|makes|equals)\b"
        rf"|[\d{NUMERAL}]+\s*(?:加|减|乘以?|除以)\s*[\d{NUMERAL}]+\s*(?:等于|得)"
    ),
    "a share": (
        rf"(?!one\b){COUNTED} (?:of|of the|of all) {COUNTED}\b(?! |-(?:{NUMBER_WORDS}))"
        rf"|(?!one\b){COUNTED} of {COUNTED}(?= (?:are|is|were|was|have|has|do)\b)"
        rf"|{COUNTED} (?:out of|in)(?: every| a| the)? {COUNTED}\b"
        rf"|[\d{NUMERAL}]+\s*[个次条步行位份](?:里面?|中|当中)[有占的]?\s*[\d{NUMERAL}]+\s*[个次条步行位份]"
        r"|\bfifty-fifty\b"
    ),
    "a ratio": (
        rf"\d+\s*[:]\s*\d+(?!\d|:\d)|\d+-to-\d+|(?![01] )\d+ to 1\b|\d+ over \d+"
        rf"|(?!一比一)[{NUMERAL}]+比[{NUMERAL}]+(?![较例])"
    ),
    "a fraction": (
        rf"(?!1/0\b|0/1\b)\d+\s*[/÷]\s*\d+|(?:\d+\s?)?[¼-¾⅐-⅞]|[{NUMERAL}\d]+\s?分之\s?[{NUMERAL}\d]+"
        rf"|\d+[-‑/]\d+ths\b|(?:\ba|{NUMBER_WORD})[ -]{PART}"
        rf"|{HALF}|半数|对半|[{NUMERAL}]+个半"
    ),
    "a decimal": (
        rf"[-−+]?{WHOLE}?\.[\xa0\u2009\u202f]?\d+|[{NUMERAL}]+点[{NUMERAL}]+"
        rf"|{NUMBER_WORD} point (?:{NUMBER_WORDS})\b"
        r"|\d{1,2}·\d+|\d+,(?!\d{3}(?!\d))\d+(?![,\d])"
    ),
}
FIGURE = re.compile(
    r"(?<![A-Za-z0-9_.])(?:"
    + "|".join(f"(?P<f{i}>{form})" for i, form in enumerate(FORMS.values()))
    + ")",
    re.IGNORECASE,
)
COUNT = re.compile(rf"(?<![A-Za-z0-9_.]){SIGNED}")
TIME = re.compile(r"[012]?\d:[0-5]\d(?::[0-5]\d)?")


@dataclass(frozen=True)
class Number:
    """A number written in a text."""

    start: int
    end: int
    text: str
    form: str


def find_numbers(text: str, counts: bool = False) -> Iterator[Number]:
    """Every figure in a text; with ``counts`` every whole number as well (tables)."""
    rest = text.translate(NARROW)
    for match in ARITHMETIC.finditer(rest):
        if _stands_alone(rest, match):
            shown = match[0].strip()
            start = match.start() + match[0].index(shown)
            yield Number(start, start + len(shown), shown, "worked arithmetic")
            rest = _blanked(rest, match)
    for match in FIGURE.finditer(rest):
        index = next(i for i in range(len(FORMS)) if match[f"f{i}"] is not None)
        form = list(FORMS)[index]
        if form == "a ratio" and TIME.fullmatch(match[0]):
            continue
        yield Number(match.start(), match.end(), match[0], form)
        rest = _blanked(rest, match)
    if counts:
        for match in COUNT.finditer(rest):
            yield Number(match.start(), match.end(), match[0], "a number in a table")


def _blanked(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match[0]) + text[match.end() :]


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """True if arithmetic is a whole one, not the end of x + 1 = 2 or of V(1) = 2."""
    before, behind = text[: match.start()].rstrip(), text[match.end() :]
    return not (
        re.search(rf"[-+−–×*/÷·^_(\[{{|{NAME}]\Z", before)
        or re.match(r"[A-Za-z_(\[^]|\s*[-+−×*/÷·<>≤≥≠=≈]", behind)
        or match[0].count("(") != match[0].count(")")
    )


def agrees(shown: str, value: int | float) -> bool:
    """True if the value rounds to what is shown; ValueError if one is no number.

    It does if it is within half a unit of the last digit shown. A whole number is a
    count and must be exact; for worked arithmetic the arithmetic must hold too, and
    the value is its right-hand side.
    """
    if "=" in shown or "≈" in shown or "＝" in shown:
        sides = re.split("[=≈＝]", shown)
        if len(sides) != 2:
            raise Refusal("number_equals", text=repr(shown))
        return holds(shown) and agrees(sides[1], value)
    number, unit = read_number(shown)
    if value != value or abs(value) == float("inf"):
        raise Refusal("number_infinite", value=value)
    exact = re.fullmatch(rf"[-−+]?{WHOLE}", shown.strip()) or number == 0 != value
    most = Fraction(0) if exact else unit / 2
    return abs(number - Fraction(value)) <= most + unit / 10**6


def holds(arithmetic: str) -> bool:
    """True if worked arithmetic such as ``8 + 6 = 14`` is right; only ≈ may round."""
    sides = re.split(f"({RELATION})", arithmetic.translate(NARROW))
    texts, signs = sides[::2], sides[1::2]
    try:
        values = [_calculate(text) for text in texts]
    except (ValueError, SyntaxError, ArithmeticError):
        return False
    units = [_unit(text) for text in texts]
    for at, sign in enumerate(signs):
        unit = max(units[at], units[at + 1])
        if not _related(values[at], values[at + 1], sign, unit):
            return False
    return True


def _related(left: Fraction, right: Fraction, sign: str, unit: Fraction) -> bool:
    if sign == "≈":
        return abs(left - right) <= unit / 2
    return ORDERS[sign](left, right)


def _unit(text: str) -> Fraction:
    """The unit of the last digit of a decimal; of anything else, 0."""
    try:
        return read_number(text)[1] if "." in text else Fraction(0)
    except ValueError:
        return Fraction(0)


def _calculate(text: str) -> Fraction:
    for sign, plain in zip("−–×÷·^", ["-", "-", "*", "/", "*", "**"], strict=True):
        text = text.replace(sign, plain)
    power = rf"[⁻⁺]?[{SUPERSCRIPTS}]+"
    text = re.sub(power, lambda p: "**" + _plain_power(p[0]), text).replace(",", "")
    text = re.sub(r"√\s*([\d.]+)", r"(\1)**0.5", text)
    text = re.sub(r"(?<![\d.])0+(?=\d)", "", text.translate({123: "(", 125: ")"}))
    return _value_of(ast.parse(text.strip(), mode="eval").body)


def _plain_power(power: str) -> str:
    """A power in superscripts as plain digits."""
    return unicodedata.normalize("NFKC", power).replace("−", "-")


OPERATIONS = {
    ast.Add: Fraction.__add__,
    ast.Sub: Fraction.__sub__,
    ast.Mult: Fraction.__mul__,
    ast.Div: Fraction.__truediv__,
}


def _value_of(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Fraction(str(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value_of(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value_of(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, power = _value_of(left), _value_of(right)
            if abs(power) > 99:
                raise Refusal("number_power", power=power)
            return Fraction(base**power)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            return OPERATIONS[type(op)](_value_of(left), _value_of(right))
    raise Refusal("number_arithmetic", text=ast.unparse(node))


def read_number(shown: str) -> tuple[Fraction, Fraction]:
    """A written number and the unit of its last digit; ValueError if it is none."""
    text = shown.translate(FULL_WIDTH).strip().replace("−", "-")
    if match := re.search(rf"(?<=10)[⁻⁺]?[{SUPERSCRIPTS}]+$", text):
        text = f"{text[: match.start()]}^{_plain_power(match[0])}"
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
        raise Refusal("number_unread", text=repr(shown))
    digits = len(text.partition(".")[2])
    return Fraction(text) * scale, scale / 10**digits


# What LaTeX shows, in this order: each pattern works on what the ones before it left.
LATEX = [
    (r"\\[dt]?frac\s*\{?\s*(\d+)\s*\}?\s*\{?\s*(\d+)\s*\}?", r" \1/\2 "),
    (r"\\%", "%"),
    (r"\\(?:times|cdot)(?![A-Za-z])", "×"),
    (r"\\approx(?![A-Za-z])", "≈"),
    (r"\\(?:math|text|mbox|hbox)[A-Za-z]*|\\[,:;!> ]|[{}$~]", ""),
    (r"\\[A-Za-z]+|(?<!\d)[A-Za-z_]+", NAME + " "),
    (r"(?<=[\d.×^])\s+(?=[\d.×^%])", ""),
]
IN_LATEX = (
    "a decimal",
    "a percentage",
    "a number in scientific notation",
    "a fraction",
)


def figures_in_latex(latex: str) -> Iterator[str]:
    r"""Every decimal, percentage, fraction and power of ten, and wrong arithmetic."""
    for pattern, shown in LATEX:
        latex = re.sub(pattern, shown, latex)
    for number in find_numbers(latex):
        wrong = number.form == "worked arithmetic" and not holds(number.text)
        other = re.match(r"(?!10)\d+\^", number.text)  # a power of something else
        if wrong or (number.form in IN_LATEX and not other and "," not in number.text):
            yield number.text
