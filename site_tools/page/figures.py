"""The figures of a page: each is bound to an expression, or it is a problem.

A figure stands in the text as inline code with ``data-is``, an expression that is
evaluated where the page's blocks end: ``0.651`` with ``{ data-is="a[0, 0]" }``. All
other numbers that a reader would call a figure are looked for in the rendered page,
as readers see it: Markdown has more ways to show a number than a scan of the source
knows.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from bs4 import BeautifulSoup, Tag

from site_tools import numbers
from site_tools.numbers import Number
from site_tools.page.blocks import Block, Kind
from site_tools.page.fences import read_attributes
from site_tools.page.files import FRONT_MATTER
from site_tools.page.prose import Part, line_of, parts, plain
from site_tools.page.rendered import BOUND, Flow, Lines, Piece, flows
from site_tools.problems import Problem, problem
from site_tools.say import Message, Refusal

# Inline code that is nothing but a number, or a name that equals one.
HIDDEN = re.compile(
    rf"(?:\w+\s*[=:≈]\s*)?(?:{numbers.FORMS['a number in scientific notation']}"
    rf"|{numbers.SIGNED}\s*[%‰]|[-+−]?{numbers.WHOLE}?\.\d+)"
)
# What has versions: a word with a capital or a hyphen, as TRL or flash-attn; verl.
NAMED = re.compile(
    r"(?<![A-Za-z0-9_`/-])(verl|[A-Za-z]+-[a-z]+|[A-Za-z]*[A-Z][A-Za-z]+)[ ]v?\Z"
)
TOUCHED = re.compile(
    rf"[\d⁰-⁹]{BOUND}|[.,]\b{BOUND}|(?<![\w ])[-−+]{BOUND}|^[-−+]{BOUND}|\s[-−+]{BOUND}"
    rf"|{BOUND}\s?[%％‰\d⁰-⁹]|{BOUND}[.,]\d|{BOUND}\s*(?:[×x·]\s*10|[eE][-+−]?\d)"
)
RENDERED = re.compile(r'<code data-is="([^"]*)">(.*?)</code>')
# V(s_0) = 7 says how much something is; \gamma = 1, t = 3 and T = 5 say where.
VALUE = re.compile(r"(?:[VAGRQJL]|\\hat|\\bar|\\delta|\\mathbb|\\math|\)).*")
CLAIMED = re.compile(r"(?:=|\\approx)\s*([-−+]?\d+)\s*$")
OF_CODE = {"a decimal", "a percentage", "a fraction", "worked arithmetic"} | {
    "a number in scientific notation"
}


@dataclass(frozen=True)
class Figure:
    """A number as shown, and the expression that gives it."""

    start: int
    line: int
    shown: str
    expression: str


@dataclass(frozen=True)
class Prose:
    """What the figures of a page are read from.

    Args:
        path: Of the page, for the messages.
        text: The page.
        body: The same with front matter and fences blanked (``prose.body``).
        meta: Its front matter.
        refs: Versions and citations, whose numbers are not figures.
        blocks: Its fences with their meaning.
        tree: The rendered page.
    """

    path: str
    text: str
    body: str
    meta: dict[str, Any]
    refs: tuple[str, ...]
    blocks: Sequence[Block]
    tree: BeautifulSoup

    @cached_property
    def lines(self) -> Lines:
        """Where the nodes of the tree stand."""
        return Lines(self.tree, self.body)

    @cached_property
    def code(self) -> str:
        """All that runs and is printed, without blanks."""
        texts = [block.text for block in self.blocks if block.kind is not Kind.SHOWN]
        return re.sub(r"[ \t]", "", "\n".join(texts))

    def in_code(self, text: str) -> bool:
        """Whether a text stands in code that runs, or in what it prints."""
        wanted = re.escape(re.sub(r"\s", "", text))
        return bool(re.search(rf"(?<![\d.]){wanted}(?!\.?\d)", self.code))

    def known(self, text: str) -> str:
        """A text with addresses and what ``refs`` knows blanked."""
        longest = sorted(self.refs, key=len, reverse=True)
        names = [re.escape(ref) + r"(?![\w.]*\d)" for ref in longest]
        for known in (r"https?://[^\s>)]+", *names):
            text = re.sub(known, lambda match: " " * len(match[0]), text)
        return text

    def line(self, piece: Piece, shown: str) -> int:
        """The line of what a piece of the rendered page shows."""
        rows = self.text.split("\n")
        start = self.lines.of(piece.node)
        near = (*range(start, min(start + 40, len(rows) + 1)), *range(1, start))
        return next((n for n in near if shown in rows[n - 1]), start)


def read_figures(prose: Prose) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a page, and a problem for each figure that is not."""
    figures, problems = _bound_figures(prose)
    for flow in flows(prose.tree):
        if not flow.quoted:
            problems += _in_flow(flow, prose)
    problems += [*_in_front_matter(prose), *_in_fences(prose), *_formulas(prose)]
    told = {(p.line, p.found): p for p in problems}
    return figures, sorted(told.values(), key=lambda problem: problem.line)


def _bound_figures(prose: Prose) -> tuple[list[Figure], list[Problem]]:
    figures: list[Figure] = []
    problems: list[Problem] = []
    quoted: list[Part] = []
    for part in parts(prose.body):
        line = line_of(prose.body, part.start)
        if part.kind == "quote":
            quoted.append(part)
        elif any(q.start < part.start < q.end for q in quoted):
            if "data-is" in (part.attributes or ""):
                key = "figure_in_quotation"
                problems.append(problem(prose.path, line, key, text=part.text))
            continue
        try:
            if part.kind == "code":
                figures += _bound(part, line)
            elif part.kind == "attributes":
                _check_list(part)
        except ValueError as error:
            shown = part.text if part.kind == "attributes" else f"`{part.text}`"
            wrong = error.message if isinstance(error, Refusal) else str(error)
            key = "figure_binding"
            problems.append(problem(prose.path, line, key, text=shown, why=wrong))
    return figures, problems


def _bound(part: Part, line: int) -> list[Figure]:
    values = read_attributes(part.attributes or "").values
    for key in values.keys() - {"data-is"}:
        raise Refusal("binding_attribute", key=key)
    expression = values.get("data-is")
    if expression is None:
        if HIDDEN.fullmatch(part.text):
            raise Refusal("binding_missing")
        return []
    numbers.agrees(part.text, 0)
    if "][" in expression:  # autorefs would make a link of it, and show the braces
        raise Refusal("binding_brackets", text=expression)
    check_expression(expression, part.text)
    return [Figure(part.start, line, part.text, expression)]


def _check_list(part: Part) -> None:
    for key in read_attributes(part.text[1:-1].lstrip(":")).values:
        raise Refusal("binding_elsewhere", key=key)


def _in_flow(flow: Flow, prose: Prose) -> Iterator[Problem]:
    """Every figure that nothing binds in a run of text."""
    shown = "".join(
        numbers.NAME * len(piece.text) if piece.kind == "formula" else piece.text
        for piece in flow.pieces
    )
    text = prose.known(shown)
    if touching := TOUCHED.search(text):
        bound = next(piece for piece in flow.pieces if piece.kind == "bound")
        line, near = prose.lines.of(bound.node), touching[0].strip()
        sign = near.replace(BOUND, "[bound figure]")
        yield problem(prose.path, line, "figure_touched", text=sign)
    for number in unbound(text, flow.in_table):
        piece = flow.piece_at(number.start)
        raw = shown[number.start : number.end]
        line = prose.line(piece, raw)
        if piece.kind == "code" and not flow.in_table and raw in piece.text:
            alone = HIDDEN.fullmatch(piece.text)  # which has been told
            if number.form in OF_CODE and not alone and not prose.in_code(piece.text):
                text = f"`{piece.text}`"
                yield problem(prose.path, line, "figure_in_code", text=text)
            continue
        yield _unbound(number, prose.path, line, shown)
    for piece in flow.pieces:
        if piece.kind == "formula":
            displayed = isinstance(piece.node, Tag) and piece.node.name == "div"
            for figure in in_formula(piece.text, flow.in_table, displayed):
                line = prose.line(piece, piece.text.strip().split("\n")[0])
                yield problem(prose.path, line, "figure_in_formula", number=figure)


def unbound(text: str, counts: bool = False) -> Iterator[Number]:
    """The numbers of a text but worked arithmetic that holds.

    Args:
        text: Any text.
        counts: Whether whole numbers are figures too, as in a table.
    """
    for number in numbers.find(text, counts):
        if not (number.form == "worked arithmetic" and numbers.holds(number.text)):
            yield number


def in_formula(
    tex: str, in_table: bool = False, displayed: bool = False
) -> Iterator[str]:
    r"""The figures of a formula: what it claims that nothing on the page computes.

    Decimals, percentages, fractions, powers of ten, arithmetic that does not hold, and
    how much a value is. The setting of a name, as ``\gamma = 1``, is not one; nor are
    the fractions of a displayed formula, which a property test proves.

    Example:
        >>> [*in_formula(r"V(s_0) = 7"), *in_formula(r"\tfrac12 + 0{.}5")]
        ['V(s_0) = 7', '1/2', '0.5']
        >>> [*in_formula(r"\gamma = 1"), *in_formula("98")]
        []
    """
    found = [*numbers.in_formula(tex)]
    claimed = CLAIMED.search(tex)
    if displayed:
        yield from (number for number in found if "/" not in number or "=" in number)
        return
    yield from found
    value = claimed and claimed[1] not in ("0", "1") and VALUE.match(tex.strip())
    if value or (in_table and re.fullmatch(r"\s*[-−+]?\d+\s*", tex)):
        yield tex.strip()


def _formulas(prose: Prose) -> Iterator[Problem]:
    """Formulas that are not between dollars, where the languages are compared."""
    kinds = ("display", "inline")
    written = {_squeeze(p.text) for p in parts(prose.body) if p.kind in kinds}
    for node in prose.tree.select(".arithmatex"):
        tex = node.get_text().strip()[2:-2].strip()
        if _squeeze(tex) not in written:
            line = prose.line(Piece("formula", tex, node), tex.split("\n")[0])
            yield problem(prose.path, line, "formula_undollared", text=tex)


def _squeeze(tex: str) -> str:
    return "".join(tex.split())


def _in_front_matter(prose: Prose) -> Iterator[Problem]:
    """Figures of what becomes a title; a setting may stand there as it is in code."""
    front = FRONT_MATTER.match(prose.text)
    for key in ("question", "title", "aliases"):
        value = prose.meta.get(key)
        for text in value if isinstance(value, list) else [value]:
            for number in unbound(prose.known(text)) if isinstance(text, str) else ():
                if not prose.in_code(number.text):
                    rows = front[0].split("\n") if front else []
                    at = (n for n, row in enumerate(rows, 1) if number.text in row)
                    name = as_shown(number)
                    line = next(at, 1)
                    yield problem(
                        prose.path, line, "figure_in_front", key=key, number=name
                    )


def _in_fences(prose: Prose) -> Iterator[Problem]:
    """Figures in fences that are text or data, which nothing prints."""
    for block in prose.blocks:
        if block.kind is Kind.SHOWN:
            language = block.fence.header[0]
            for line in block.lines:
                for number in unbound(prose.known(plain(line.text))):
                    if number.form in OF_CODE or language == "text":
                        yield problem(
                            prose.path,
                            line.page_line,
                            "figure_in_fence",
                            snippet=line.snippet,
                            number=number.text,
                            language=language,
                        )


def as_shown(number: Number) -> Message:
    """A number with the name of its form."""
    form = Message("form_" + number.form.replace(" ", "_"))
    return Message("figure_form", {"number": number.text, "form": form})


def _unbound(number: Number, path: str, line: int, text: str) -> Problem:
    shown = number.text
    if number.form == "worked arithmetic":
        return problem(path, line, "arithmetic_wrong", text=shown)
    name = NAMED.search(text, 0, number.start)
    ref = f"{name[1] if name else 'verl'} {shown.removeprefix('v')}"
    if number.form == "a version":
        return problem(path, line, "version_unknown", version=shown, ref=ref)
    form = as_shown(number)
    if number.form in ("a share", "a ratio", "a multiple", "arithmetic in words"):
        return problem(path, line, "figure_loose", figure=form)
    if not re.search(r"\d", shown):
        return problem(path, line, "figure_in_words", figure=form)
    key = (
        "figure_or_version" if name and number.form == "a decimal" else "figure_unbound"
    )
    return problem(path, line, key, figure=form, number=shown, ref=ref)


def render(html: str) -> str:
    """Turn bound figures from inline code into figures that readers see as text."""
    return RENDERED.sub(r'<span class="figure" data-is="\1">\2</span>', html)


CHOICES = ast.NamedExpr | ast.IfExp | ast.Lambda | ast.BoolOp
EXTREMES = {"max", "min", "maximum", "minimum", "clamp", "clip"}


def check_expression(expression: str, shown: str = "") -> None:
    """Refuse an expression that is wrong, constant, or decides its own value.

    Args:
        expression: What stands in ``data-is``.
        shown: The figure bound to it, which may not stand in it.

    Raises:
        Refusal: saying what must hold.

    Example:
        >>> check_expression("truth * 0 + 0.98", "0.98")
        Traceback (most recent call last):
        site_tools.say.Refusal: data-is must give a value that its names decide, \
got truth * 0 + 0.98
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise Refusal("binding_syntax", text=expression, why=error.msg) from None
    nodes = list(ast.walk(tree))
    if any(isinstance(node, CHOICES) for node in nodes):
        raise Refusal("binding_choice", text=expression)
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not names - set(dir(builtins)):
        raise Refusal("binding_constant", text=expression)
    if any(map(_takes_no_part, nodes)) or _holds_itself(tree, shown):
        raise Refusal("binding_idle", text=expression)


def _takes_no_part(node: ast.AST) -> bool:
    """Whether it multiplies by 0."""
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return any(
                isinstance(n, ast.Constant) and not n.value for n in (left, right)
            )
    return False


def _holds_itself(tree: ast.Expression, shown: str) -> bool:
    """Whether the figure is written into its expression.

    It may be a place, or the setting of a function of the page. A whole number may be
    a factor too, and not what is added or one of those of which the largest is taken.
    """
    try:
        number = abs(numbers.read(shown.split("=")[-1])[0])
    except ValueError:
        return False
    own = {number, number * 100} if shown.endswith("%") else {number}
    parts: list[ast.AST] = [tree]
    if number.denominator == 1:
        parts = [part for node in ast.walk(tree) for part in _compared(node)]
    values = (value for part in parts for value in _literals(part))
    return any(Fraction(str(value)) in own for value in values if value)


def _literals(node: ast.AST) -> Iterator[float]:
    match node:
        case ast.Constant(value=int() | float() as value):
            yield value
        case ast.Subscript(value=inner):
            yield from _literals(inner)
        case ast.Call(func=function, args=args):
            yield from _literals(function)
            if _is_library(function):
                yield from (value for arg in args for value in _literals(arg))
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _literals(child)


def _is_library(function: ast.AST) -> bool:
    """Whether what is called is Python's or PyTorch's, and not of the page."""
    if isinstance(function, ast.Attribute) and function.attr in EXTREMES:
        return True
    while isinstance(function, ast.Attribute):
        function = function.value
    names = {"torch", "math", *dir(builtins)}
    return isinstance(function, ast.Name) and function.id in names


def _compared(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            return [part for part in (left, right) if isinstance(part, ast.Constant)]
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args):
            return args if name in EXTREMES else []
    return []
