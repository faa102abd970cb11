"""The figures of a page, each bound to the expression that gives it.

A figure stands in the text as inline code with ``data-is``, an expression that is
evaluated where the page's blocks end: ``0.651`` with ``{ data-is="a[0, 0]" }``. Whether
the value is the one shown says ``judge.figures``; a figure without an expression is a
problem (``unbound``).
"""

import re
from typing import NamedTuple

from bs4 import Tag

from site_tools import numbers
from site_tools.messages import Problem, Problems, Refusal, problem, problem_from
from site_tools.page.expressions import check_binding
from site_tools.page.text import PageText
from site_tools.page.tree import BOUND_SIGN, Flow
from site_tools.page.unbound import BARE_NUMBER, unbound_figures

RAISED = f"[{numbers.SUPERSCRIPTS}⁻⁺]"
# What makes another number of a bound figure that it touches.
TOUCHED = re.compile(
    rf"(?:[\d{numbers.SUPERSCRIPTS}A-Za-z_.^/⁄{BOUND_SIGN}]|\d,|百分之\s*"
    rf"|(?:^|[=≈(:,，：（])\s*[-+−]\s*|(?<!\w)[-−+]"
    rf"|\b(?:negative|(?:is|are|of|to|at) minus)\s+|负的?\s*){BOUND_SIGN}"
    rf"|{BOUND_SIGN}(?:[\dA-Za-z_^/⁄{BOUND_SIGN}+−-]|{RAISED}|[.,][\d{BOUND_SIGN}]"
    r"|\s*(?:[%％‰十百千万亿]|per ?cent\b|个百分点|分之|[×x·*]\s*10))"
)


class Figure(NamedTuple):
    """A number as shown, and the expression that gives it."""

    line: int
    shown: str
    expression: str


def read_figures(page: PageText) -> tuple[list[Figure], list[Problem]]:
    """The bound figures of a page, and a problem for each figure that is not."""
    figures: list[Figure] = []
    problems: list[Problem] = []
    for tag in page.tree.select("code, [data-is]"):
        shown = tag.get_text()
        line = page.line_near(shown, page.line_of(tag))
        try:
            if _is_bound(tag, shown):
                figures.append(Figure(line, shown, str(tag["data-is"])))
        except Refusal as fault:
            problems.append(problem_from(fault, page.path, line))
    for flow in page.flows:
        if not flow.quoted:
            problems += figure_touched(flow, page.path)
    problems += unbound_figures(page)
    once = {(each.line, each.found): each for each in problems}
    return figures, sorted(once.values(), key=lambda each: each.line)


def _is_bound(tag: Tag, shown: str) -> bool:
    """True if code is a bound figure; refused if it is a figure, and bound wrongly."""
    expression = tag.get("data-is")
    if tag.find_parent("pre") or tag.find_parent(class_="quote"):
        if expression is not None:
            raise Refusal("figure_in_quotation", text=shown)
        return False
    if tag.name != "code":
        raise Refusal("binding_elsewhere", text=shown, expression=expression)
    for key in tag.attrs:
        if key != "data-is":
            raise Refusal("binding_attribute", key=key, text=shown)
    if expression is None:
        apart = "data-is" in str(tag.next_sibling)  # which is told by itself
        if BARE_NUMBER.fullmatch(shown) and not apart:
            raise Refusal("figure_unbound", figure=f"`{shown}`", number=shown)
        return False
    if "][" in expression:  # autorefs would make a link of it
        raise Refusal("binding_brackets", text=expression, shown=shown)
    check_binding(shown, str(expression))
    return True


def figure_touched(flow: Flow, path: str) -> Problems:
    """The sign at a bound figure that makes another number of it."""
    match = TOUCHED.search(flow.text)
    if match:
        bound = flow.piece_at(flow.text.index(BOUND_SIGN, match.start()))
        sign = match[0].strip().replace(BOUND_SIGN, bound.node.get_text())
        yield problem(path, bound.line, "figure_touched", text=sign)
