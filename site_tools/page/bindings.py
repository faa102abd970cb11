"""The figures of a page and their bindings: one without an expression is a problem.

A figure stands in the text as inline code with ``data-is``, an expression that is
evaluated where the page's blocks end: ``0.651`` with ``{ data-is="a[0, 0]" }``. All
other numbers that a reader would call a figure are looked for in the rendered page,
as readers see it: Markdown has more ways to show a number than a scan of the source
knows.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from bs4 import Tag

from site_tools import numbers
from site_tools.numbers import Number
from site_tools.page.blocks import Kind
from site_tools.page.prose import plain
from site_tools.page.rendered import BOUND, WORDS, Flow, Piece, Text, flows
from site_tools.say import Message, Problem, Refusal, problem, told

# Inline code that is nothing but a number, or a name that equals one.
HIDDEN = re.compile(
    rf"(?:\w+\s*[=:≈]\s*)?(?:{numbers.FORMS['a number in scientific notation']}"
    rf"|{numbers.SIGNED}\s*[%‰]|[-+−]?{numbers.WHOLE}?\.\d+)"
)
# What has versions: a word with a capital or a hyphen, as TRL or flash-attn; verl.
NAMED = re.compile(
    r"(?<![A-Za-z0-9_`/-])(verl|[A-Za-z]+-[a-z]+|[A-Za-z]*[A-Z][A-Za-z]+)[ ]v?\Z"
)
RAISED = f"[{numbers.SUPERSCRIPTS}⁻⁺]"
# What makes another number of a bound figure that it touches.
TOUCHED = re.compile(
    rf"(?:[\d{numbers.SUPERSCRIPTS}A-Za-z_.^/⁄{BOUND}]|\d,|百分之\s*"
    rf"|(?:^|[=≈(:,，：（])\s*[-+−]\s*|(?<!\w)[-−+]){BOUND}"
    rf"|{BOUND}(?:[\dA-Za-z_^/⁄{BOUND}+−-]|{RAISED}|[.,][\d{BOUND}]"
    r"|\s*(?:[%％‰十百千万亿]|per ?cent\b|个百分点|分之|[×x·*]\s*10))"
)
RENDERED = re.compile(r'<code data-is="([^"]*)">(.*?)</code>')
# V(s_0) = 7 says how much something is; \gamma = 1, t = 3 and T = 5 say where.
VALUE = re.compile(r"(?:[VAGRQJL]|\\hat|\\bar|\\delta|\\mathbb|\\math|\)).*")
WHOLE = re.compile(r"\s*[-−+]?\d+\s*")
CLAIMED = re.compile(r"(?:=|\\approx)\s*([-−+]?\d+)\s*$")
OF_CODE = {"a decimal", "a percentage", "a fraction", "worked arithmetic"} | {
    "a number in scientific notation"
}
# How a figure of a form is told; every other form in one way.
KEYS = {
    **{"worked arithmetic": "arithmetic_wrong", "a version": "version_unknown"},
    **dict.fromkeys(("a share", "a ratio", "a multiple"), "figure_loose"),
    "arithmetic in words": "figure_loose",
}
# As git writes one, behind the release that it fits.
PATCH = re.compile(r"# .+\n--- a/.+\n\+\+\+ b/.+\n@@ ")
MARKS = tuple("\"'“”‘’„«")  # in front of an expression, where they are never closed
CHOICES = ast.NamedExpr | ast.IfExp | ast.Lambda | ast.BoolOp


class Figure(NamedTuple):
    """A number as shown, and the expression that gives it."""

    line: int
    shown: str
    expression: str


def read_figures(page: Text) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a page, and a problem for each figure that is not."""
    figures, problems = _bound_figures(page)
    for flow in flows(page.tree):
        if not flow.quoted:
            problems += _in_flow(flow, page)
    problems += [*_in_front_matter(page), *_in_fences(page)]
    once = {(p.line, p.found): p for p in problems}
    return figures, sorted(once.values(), key=lambda problem: problem.line)


def _bound_figures(page: Text) -> tuple[list[Figure], list[Problem]]:
    figures: list[Figure] = []
    problems: list[Problem] = []
    for code in page.tree.select("code, [data-is]"):
        text, expression = code.get_text(), code.get("data-is")
        quoted = code.find_parent("pre") or code.find_parent(class_="quote")
        if quoted and expression is None:
            continue
        line = page.line_of(code, text)
        if quoted:
            problems.append(page.problem(line, "figure_in_quotation", text=text))
            continue
        try:
            if code.name != "code":
                raise Refusal("binding_elsewhere", text=text, expression=expression)
            for key in code.attrs.keys() - {"data-is"}:
                figure = re.search(r"\d", text)
                name = "binding_attribute" if figure else "attribute_idle"
                raise Refusal(name, key=key, text=text)
            if expression is not None:
                if "][" in expression:  # autorefs would make a link of it
                    raise Refusal("binding_brackets", text=expression, shown=text)
                check_binding(text, str(expression))
                figures.append(Figure(line, text, str(expression)))
            elif HIDDEN.fullmatch(text) and "data-is" not in str(code.next_sibling):
                raise Refusal("binding_missing", text=text)
        except Refusal as fault:
            problems.append(told(fault, page.path, line))
    return figures, problems


def check_binding(shown: str, expression: str) -> None:
    """Refuse what is no number, or an expression that cannot be its value."""
    try:
        numbers.agrees(shown, 0)
    except ValueError as error:
        raise Refusal("binding_number", why=error) from None
    check_expression(expression, shown)


def unbound(text: str, counts: bool = False) -> Iterator[Number]:
    """The numbers of a text, maybe with counts, but no worked arithmetic that holds."""
    for number in numbers.find(text, counts):
        if not (number.form == "worked arithmetic" and numbers.holds(number.text)):
            yield number


def touching(flow: Flow, path: str, line_of: Callable[[Piece], int]) -> list[Problem]:
    """What stands at a bound figure and makes another number of it."""
    match = TOUCHED.search(flow.text)
    if not match:
        return []
    bound = flow.piece_at(flow.text.index(BOUND, match.start()))
    sign = match[0].strip().replace(BOUND, bound.node.get_text())
    return [problem(path, line_of(bound), "figure_touched", text=sign)]


def _in_flow(flow: Flow, page: Text) -> Iterator[Problem]:
    """Every figure that nothing binds in a run of text."""
    shown = "".join(
        numbers.NAME * len(piece.text) if piece.kind == "formula" else piece.text
        for piece in flow.pieces
    )
    yield from touching(flow, page.path, lambda piece: page.line_of(piece.node))
    for number in unbound(page.without_refs(shown), flow.in_table):
        piece = flow.piece_at(number.start)
        raw = shown[number.start : number.end]
        line = page.line_of(piece.node, raw)
        if piece.kind in WORDS:  # an attribute, in which nothing can be bound
            values = {"figure": as_shown(number), "name": piece.kind}
            yield page.problem(line, "figure_in_attribute", **values)
            continue
        if piece.kind != "code" or flow.in_table or raw not in piece.text:
            yield _unbound(number, page.path, line, shown)
            continue
        alone = HIDDEN.fullmatch(piece.text)  # which has been told
        if number.form in OF_CODE and not alone and not in_code(page, piece.text):
            yield page.problem(line, "figure_in_code", text=f"`{piece.text}`")
    for piece in flow.pieces:
        if piece.kind == "formula":
            displayed = isinstance(piece.node, Tag) and piece.node.name == "div"
            for figure in in_formula(piece.text, flow.in_table, displayed):
                line = page.line_of(piece.node, piece.text.strip().split("\n")[0])
                yield page.problem(line, "figure_in_formula", number=figure)
        elif piece.kind == "text" and "data-is" in piece.text:
            line, text = page.line_of(piece.node), piece.text.strip()
            yield page.problem(line, "binding_apart", text=text)


def in_code(page: Text, text: str) -> bool:
    """Whether a text stands in code of a page that runs, or in what it prints."""
    blocks = [block.text for block in page.blocks if block.kind is not Kind.SHOWN]
    code = re.sub(r"[ \t]", "", "\n".join(blocks))
    wanted = re.escape(re.sub(r"\s", "", text))
    return bool(re.search(rf"(?<![\d.]){wanted}(?!\.?\d)", code))


def in_formula(
    tex: str, in_table: bool = False, displayed: bool = False
) -> Iterator[str]:
    r"""The figures of a formula: what it claims that nothing on the page computes.

    Decimals, percentages, fractions, powers of ten, arithmetic that does not hold, and
    how much a value is. The setting of a name, as ``\gamma = 1``, is not one; nor are
    the fractions of a displayed formula, which a property test proves.
    """
    for number in numbers.in_formula(tex):
        if not displayed or "/" not in number or "=" in number:
            yield number
    claimed = CLAIMED.search(tex)
    value = claimed and claimed[1] not in ("0", "1") and VALUE.match(tex.strip())
    if not displayed and (value or (in_table and WHOLE.fullmatch(tex))):
        yield tex.strip()


def _in_front_matter(page: Text) -> Iterator[Problem]:
    """Figures of what becomes a title; a setting may stand there as it is in code."""
    for key in ("question", "title", "aliases"):
        value = page.meta.get(key)
        for text in value if isinstance(value, list) else [value]:
            text = page.without_refs(text) if isinstance(text, str) else ""
            for number in unbound(text):
                if not in_code(page, number.text):
                    line, shown = page.line_with(number.text) or 1, as_shown(number)
                    yield page.problem(line, "figure_in_front", key=key, number=shown)


def _in_fences(page: Text) -> Iterator[Problem]:
    """Figures in fences that are text or data, which nothing prints.

    What a patch takes away is somebody else's (tests/site/content/test_upstream.py holds it
    against the release); what it adds has no figure but those, and what the page runs.
    """
    for block in page.blocks:
        language = block.fence.header[0]
        gone = ""
        for line in block.lines if block.kind is Kind.SHOWN else ():
            patched = language == "diff" and PATCH.match(block.text)
            if patched and not line.text.startswith("+"):
                gone += line.text + "\n"
                continue
            for number in unbound(page.without_refs(plain(line.text))):
                if patched and (number.text in gone or in_code(page, number.text)):
                    continue
                if number.form in OF_CODE or language == "text":
                    place = page.path, line.page_line, "figure_in_fence"
                    values = {"number": number.text, "language": language}
                    yield problem(*place, snippet=line.snippet, **values)


def as_shown(number: Number) -> Message:
    """A number with the name of its form."""
    form = Message("form_" + number.form.replace(" ", "_"))
    return Message("figure_form", {"number": number.text, "form": form})


def _unbound(number: Number, path: str, line: int, text: str) -> Problem:
    shown, name = number.text, NAMED.search(text, 0, number.start)
    key = KEYS.get(number.form, "figure_unbound")
    if name and number.form == "a decimal":
        key = "figure_or_version"
    elif key == "figure_unbound" and not re.search(r"\d", shown):
        key = "figure_loose"
    values: dict[str, Any] = {"text": shown, "version": shown, "number": shown}
    values["ref"] = f"{name[1] if name else 'verl'} {shown.removeprefix('v')}"
    return problem(path, line, key, figure=as_shown(number), **values)


def render(html: str) -> str:
    """Turn bound figures from inline code into figures that readers see as text."""
    return RENDERED.sub(r'<span class="figure" data-is="\1">\2</span>', html)


def check_expression(expression: str, shown: str = "") -> None:
    """Refuse an expression that is wrong, constant, or decides its own value."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        key = "binding_marks" if expression.startswith(MARKS) else "binding_syntax"
        key = key if expression.strip() else "binding_empty"
        raise Refusal(key, text=expression, shown=shown, why=error.msg) from None
    nodes = list(ast.walk(tree))
    if any(isinstance(node, CHOICES) for node in nodes):
        raise Refusal("binding_choice", text=expression, shown=shown)
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    if not names - set(dir(builtins)):
        raise Refusal("binding_constant", text=expression, shown=shown)
    if _holds_itself(tree, shown):
        raise Refusal("binding_idle", text=expression, shown=shown)


def _holds_itself(tree: ast.Expression, shown: str) -> bool:
    """Whether a decimal is written into its expression, but for places and settings."""
    try:
        number = abs(numbers.read(shown.split("=")[-1])[0])
    except ValueError:
        return False
    own = {number, number * 100} if shown.endswith("%") else {number}
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            if Fraction(str(node.value)) in own and number.denominator > 1:
                return True
        elif not isinstance(node, ast.Call | ast.Subscript):
            nodes += ast.iter_child_nodes(node)
    return False
