"""Figures that nothing binds: all that a reader would call one, as readers see it.

They are looked for in the rendered page: Markdown has more ways to show a number than
a scan of the source knows. Where none can be bound, as in a title, there is to be none.
"""

import re
from collections.abc import Iterator

from bs4 import Tag

from site_tools import numbers
from site_tools.messages import Message, Problem, Problems, problem
from site_tools.numbers import Number
from site_tools.page.text import PageText
from site_tools.page.tree import SPOKEN, Flow, Piece, unproved_numbers
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
# V(s_0) = 7 says how much something is; \gamma = 1, t = 3 and T = 5 say where.
VALUE = re.compile(r"(?:[VAGRQJL]|\\hat|\\bar|\\delta|\\mathbb|\\math|\)).*")
WHOLE_NUMBER = re.compile(r"\s*[-−+]?\d+\s*")
CLAIMED = re.compile(r"(?:=|\\approx)\s*([-−+]?\d+)\s*$")
OF_CODE = (
    "a decimal",
    "a percentage",
    "a fraction",
    "worked arithmetic",
    "a number in scientific notation",
)
# In words, or of two numbers: said otherwise, or bound one by one.
LOOSE = ("a share", "a ratio", "a multiple", "arithmetic in words")
# As git writes one, behind the release that it fits.
PATCH = re.compile(r"# .+\n--- a/.+\n\+\+\+ b/.+\n@@ ")


def unbound_figures(page: PageText) -> Problems:
    """A problem for each figure of a page that nothing binds."""
    for flow in page.flows:
        if not flow.quoted:
            yield from _in_text(flow, page)
            yield from _in_formulas(flow, page)
            yield from _apart(flow, page)
    yield from _in_front_matter(page)
    yield from _in_fences(page)


def _in_text(flow: Flow, page: PageText) -> Problems:
    """Figures of a run of text, of its inline code, or of an attribute."""
    words = flow.hiding("formula")
    for number, piece in flow.figures(page.without_refs(words)):
        raw = words[number.start : number.end]
        line = flow.line_at(number.start)
        if raw in piece.text:
            line = page.line_near(raw, line)
        else:
            line = page.line_marked(raw, line)
        if piece.kind in SPOKEN:  # in which nothing can be bound
            values = {"figure": as_shown(number), "name": piece.kind}
            yield page.problem(line, "figure_in_attribute", **values)
        elif piece.kind != "code" or flow.in_table or raw not in piece.text:
            yield _unbound(number, page.path, line, words)
        elif _is_invented(number, piece, page):
            yield page.problem(line, "figure_in_code", text=f"`{piece.text}`")


def _is_invented(number: Number, code: Piece, page: PageText) -> bool:
    """True if a figure in inline code stands in no block; one alone has been told."""
    if number.form not in OF_CODE or BARE_NUMBER.fullmatch(code.text):
        return False
    return not page.is_in_code(code.text)


def _unbound(number: Number, path: str, line: int, text: str) -> Problem:
    """The problem of a figure, by what it perhaps is."""
    shown = number.text
    if number.form == "worked arithmetic":
        return problem(path, line, "arithmetic_wrong", text=shown)
    name = VERSIONED.search(text, 0, number.start)
    ref = f"{name[1] if name else 'verl'} {shown.removeprefix('v')}"
    if number.form == "a version":
        return problem(path, line, "version_unknown", version=shown, ref=ref)
    figure = as_shown(number)
    if name and number.form == "a decimal":
        key = "figure_or_version"
        return problem(path, line, key, figure=figure, number=shown, ref=ref)
    loose = number.form in LOOSE or not re.search(r"\d", shown)
    key = "figure_loose" if loose else "figure_unbound"
    return problem(path, line, key, figure=figure, number=shown)


def as_shown(number: Number) -> Message:
    """A number with the name of its form."""
    form = Message("figure_forms", part=number.form)
    return Message("figure_form", {"number": number.text, "form": form})


def _in_formulas(flow: Flow, page: PageText) -> Problems:
    for piece in flow.pieces:
        if piece.kind == "formula":
            displayed = isinstance(piece.node, Tag) and piece.node.name == "div"
            line = page.line_near(piece.text, piece.line)
            for figure in formula_figures(piece.text, flow.in_table, displayed):
                yield page.problem(line, "figure_in_formula", number=figure)


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


def _apart(flow: Flow, page: PageText) -> Problems:
    """Braces that bind nothing, and are read as text."""
    for piece in flow.pieces:
        if piece.kind == "text" and "data-is" in piece.text:
            text = piece.text.strip()
            yield page.problem(piece.line, "binding_apart", text=text)


def _in_front_matter(page: PageText) -> Problems:
    """Figures of what becomes a title; a setting may stand there as it is in code."""
    titles = [("question", page.meta.get("question"))]
    titles.append(("title", page.meta.get("title")))
    titles += [("aliases", alias) for alias in page.texts("aliases")]
    for key, title in titles:
        if not isinstance(title, str):
            continue
        for number in unproved_numbers(page.without_refs(title)):
            if not page.is_in_code(number.text):
                line = page.line_with(number.text) or 1
                values = {"key": key, "number": as_shown(number)}
                yield page.problem(line, "figure_in_front", **values)


def _in_fences(page: PageText) -> Problems:
    """Figures in fences that are text or data, which nothing prints."""
    for block in page.blocks:
        if block.kind is not Kind.SHOWN:
            continue
        for line, number in _shown_figures(block, page):
            if number.form in OF_CODE or block.language == "text":
                values = {"number": number.text, "language": block.language}
                yield problem(
                    page.path,
                    line.page_line,
                    "figure_in_fence",
                    snippet=line.snippet,
                    **values,
                )


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
        for number in unproved_numbers(page.without_refs(plain_prose(line.text))):
            known = number.text in taken_away or page.is_in_code(number.text)
            if not (patched and known):
                yield line, number
