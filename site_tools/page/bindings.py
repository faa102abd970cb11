"""The figures of a page and their bindings: one without an expression is a problem.

A figure stands in the text as inline code with ``data-is``, an expression that is
evaluated where the page's blocks end: ``0.651`` with ``{ data-is="a[0, 0]" }``. All
other numbers that a reader would call a figure are looked for in the rendered page,
as readers see it: Markdown has more ways to show a number than a scan of the source
knows.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from bs4 import Tag

from site_tools import numbers
from site_tools.messages import Message, Problem, Refusal, problem, problem_from
from site_tools.numbers import Number
from site_tools.page.expressions import check_binding
from site_tools.page.text import PageText
from site_tools.page.tree import BOUND_SIGN, SPOKEN, Flow, Piece, unbound
from site_tools.source.blocks import Block, Kind
from site_tools.source.includes import Line
from site_tools.source.inline import plain_prose

# Inline code that is nothing but a number, or a name that equals one.
BARE_NUMBER = re.compile(
    rf"(?:\w+\s*[=:≈]\s*)?(?:{numbers.FORMS['a number in scientific notation']}"
    rf"|{numbers.SIGNED}\s*[%‰]|[-+−]?{numbers.WHOLE}?\.\d+)"
)
# What has versions: a word with a capital or a hyphen, as TRL or flash-attn; verl.
VERSIONED = re.compile(
    r"(?<![A-Za-z0-9_`/-])(verl|[A-Za-z]+-[a-z]+|[A-Za-z]*[A-Z][A-Za-z]+)[ ]v?\Z"
)
RAISED = f"[{numbers.SUPERSCRIPTS}⁻⁺]"
# What makes another number of a bound figure that it touches.
TOUCHED = re.compile(
    rf"(?:[\d{numbers.SUPERSCRIPTS}A-Za-z_.^/⁄{BOUND_SIGN}]|\d,|百分之\s*"
    rf"|(?:^|[=≈(:,，：（])\s*[-+−]\s*|(?<!\w)[-−+]){BOUND_SIGN}"
    rf"|{BOUND_SIGN}(?:[\dA-Za-z_^/⁄{BOUND_SIGN}+−-]|{RAISED}|[.,][\d{BOUND_SIGN}]"
    r"|\s*(?:[%％‰十百千万亿]|per ?cent\b|个百分点|分之|[×x·*]\s*10))"
)
# V(s_0) = 7 says how much something is; \gamma = 1, t = 3 and T = 5 say where.
VALUE = re.compile(r"(?:[VAGRQJL]|\\hat|\\bar|\\delta|\\mathbb|\\math|\)).*")
WHOLE_NUMBER = re.compile(r"\s*[-−+]?\d+\s*")
CLAIMED = re.compile(r"(?:=|\\approx)\s*([-−+]?\d+)\s*$")
OF_CODE = (
    *("a decimal", "a percentage", "a fraction", "worked arithmetic"),
    "a number in scientific notation",
)
# In words, or of two numbers: said otherwise, or bound one by one.
LOOSE = ("a share", "a ratio", "a multiple", "arithmetic in words")
# As git writes one, behind the release that it fits.
PATCH = re.compile(r"# .+\n--- a/.+\n\+\+\+ b/.+\n@@ ")


class Figure(NamedTuple):
    """A number as shown, and the expression that gives it."""

    line: int
    shown: str
    expression: str


def read_figures(page: PageText) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a page, and a problem for each figure that is not."""
    figures: list[Figure] = []
    problems: list[Problem] = []
    for code in page.tree.select("code, [data-is]"):
        line = page.line_near(code.get_text(), page.line_of(code))
        try:
            if _is_bound(code):
                figure = Figure(line, code.get_text(), str(code["data-is"]))
                figures.append(figure)
        except Refusal as fault:
            problems.append(problem_from(fault, page.path, line))
    for flow in page.flows:
        if not flow.quoted:
            problems += _in_flow(flow, page)
    problems += _in_front_matter(page)
    problems += _in_fences(page)
    once = {(each.line, each.found): each for each in problems}
    return figures, sorted(once.values(), key=lambda each: each.line)


def _is_bound(code: Tag) -> bool:
    """True if code is a bound figure; refused if it is a figure, and bound wrongly."""
    text, expression = code.get_text(), code.get("data-is")
    quoted = code.find_parent("pre") or code.find_parent(class_="quote")
    if quoted and expression is not None:
        raise Refusal("figure_in_quotation", text=text)
    if quoted:
        return False
    if code.name != "code":
        raise Refusal("binding_elsewhere", text=text, expression=expression)
    for key in code.attrs.keys() - {"data-is"}:
        if re.search(r"\d", text):
            raise Refusal("binding_attribute", key=key, text=text)
        raise Refusal("attribute_idle", key=key, text=text)
    if expression is None:
        apart = "data-is" in str(code.next_sibling)  # which is told by itself
        if BARE_NUMBER.fullmatch(text) and not apart:
            raise Refusal("figure_unbound", figure=f"`{text}`", number=text)
        return False
    if "][" in expression:  # autorefs would make a link of it
        raise Refusal("binding_brackets", text=expression, shown=text)
    check_binding(text, str(expression))
    return True


def figure_touched(flow: Flow, path: str) -> list[Problem]:
    """The sign at a bound figure that makes another number of it."""
    match = TOUCHED.search(flow.text)
    if not match:
        return []
    bound = flow.piece_at(flow.text.index(BOUND_SIGN, match.start()))
    sign = match[0].strip().replace(BOUND_SIGN, bound.node.get_text())
    return [problem(path, bound.line, "figure_touched", text=sign)]


def _in_flow(flow: Flow, page: PageText) -> Iterator[Problem]:
    """Every figure that nothing binds in a run of text."""
    yield from figure_touched(flow, page.path)
    words = flow.hiding("formula")
    for number, piece in flow.figures(page.without_refs(words)):
        raw = words[number.start : number.end]
        line = page.line_near(raw, piece.line)
        if piece.kind in SPOKEN:  # in which nothing can be bound
            values = {"figure": as_shown(number), "name": piece.kind}
            yield page.problem(line, "figure_in_attribute", **values)
        elif piece.kind != "code" or flow.in_table or raw not in piece.text:
            yield _unbound(number, page.path, line, words)
        elif _is_invented(number, piece, page):
            yield page.problem(line, "figure_in_code", text=f"`{piece.text}`")
    for piece in flow.pieces:
        if piece.kind == "formula":
            displayed = isinstance(piece.node, Tag) and piece.node.name == "div"
            line = page.line_near(piece.text.strip().split("\n")[0], piece.line)
            for figure in formula_figures(piece.text, flow.in_table, displayed):
                yield page.problem(line, "figure_in_formula", number=figure)
        elif piece.kind == "text" and "data-is" in piece.text:
            yield page.problem(piece.line, "binding_apart", text=piece.text.strip())


def _is_invented(number: Number, code: Piece, page: PageText) -> bool:
    """True if a figure in inline code stands in no block; one alone has been told."""
    if number.form not in OF_CODE or BARE_NUMBER.fullmatch(code.text):
        return False
    return not in_code(page, code.text)


def in_code(page: PageText, text: str) -> bool:
    """True if a text stands in code of a page that runs, or in what it prints."""
    blocks = [block.text for block in page.blocks if block.kind is not Kind.SHOWN]
    code = re.sub(r"[ \t]", "", "\n".join(blocks))
    wanted = re.escape(re.sub(r"\s", "", text))
    return bool(re.search(rf"(?<![\d.]){wanted}(?!\.?\d)", code))


def formula_figures(
    tex: str, in_table: bool = False, displayed: bool = False
) -> Iterator[str]:
    r"""The figures of a formula: what it claims that nothing on the page computes.

    Decimals, percentages, fractions, powers of ten, arithmetic that does not hold, and
    how much a value is. The setting of a name, as ``\gamma = 1``, is not one; nor are
    the fractions of a displayed formula, which a property test proves.
    """
    for number in numbers.figures_in_latex(tex):
        if not displayed or "/" not in number or "=" in number:
            yield number
    if displayed:
        return
    claimed = CLAIMED.search(tex)
    is_value = claimed and claimed[1] not in ("0", "1") and VALUE.match(tex.strip())
    if is_value or (in_table and WHOLE_NUMBER.fullmatch(tex)):
        yield tex.strip()


def _in_front_matter(page: PageText) -> Iterator[Problem]:
    """Figures of what becomes a title; a setting may stand there as it is in code."""
    titles = [(key, page.meta.get(key)) for key in ("question", "title")]
    titles += [("aliases", alias) for alias in page.texts("aliases")]
    for key, title in titles:
        if not isinstance(title, str):
            continue
        for number in unbound(page.without_refs(title)):
            if not in_code(page, number.text):
                line = page.line_with(number.text) or 1
                values = {"key": key, "number": as_shown(number)}
                yield page.problem(line, "figure_in_front", **values)


def _in_fences(page: PageText) -> Iterator[Problem]:
    """Figures in fences that are text or data, which nothing prints."""
    for block in page.blocks:
        if block.kind is not Kind.SHOWN:
            continue
        for line, number in _shown_figures(block, page):
            if number.form in OF_CODE or block.language == "text":
                place = page.path, line.page_line, "figure_in_fence"
                values = {"number": number.text, "language": block.language}
                yield problem(*place, snippet=line.snippet, **values)


def _shown_figures(block: Block, page: PageText) -> Iterator[tuple[Line, Number]]:
    """The figures of a fence, of which a patch may have some.

    The lines that a patch removes are somebody else's; test_upstream.py holds them
    against the release. What it adds has no figure but those, and what the page runs.
    """
    patched = block.language == "diff" and PATCH.match(block.text)
    taken_away = ""
    for line in block.lines:
        if patched and not line.text.startswith("+"):
            taken_away += line.text + "\n"
            continue
        for number in unbound(page.without_refs(plain_prose(line.text))):
            known = number.text in taken_away or in_code(page, number.text)
            if not (patched and known):
                yield line, number


def as_shown(number: Number) -> Message:
    """A number with the name of its form."""
    form = Message("figure_forms", part=number.form)
    return Message("figure_form", {"number": number.text, "form": form})


def _unbound(number: Number, path: str, line: int, text: str) -> Problem:
    shown = number.text
    name = VERSIONED.search(text, 0, number.start)
    ref = f"{name[1] if name else 'verl'} {shown.removeprefix('v')}"
    if number.form == "worked arithmetic":
        return problem(path, line, "arithmetic_wrong", text=shown)
    if number.form == "a version":
        return problem(path, line, "version_unknown", version=shown, ref=ref)
    values: dict[str, Any] = {"figure": as_shown(number), "number": shown}
    if name and number.form == "a decimal":
        return problem(path, line, "figure_or_version", ref=ref, **values)
    if number.form in LOOSE or not re.search(r"\d", shown):
        return problem(path, line, "figure_loose", **values)
    return problem(path, line, "figure_unbound", **values)
