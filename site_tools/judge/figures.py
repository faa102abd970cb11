"""The figures and plots that a page shows, judged against what its blocks left behind.

A figure is right where the value of its expression agrees with it (``numbers.agrees``).
One that has no expression is named by ``page.unbound``.
"""

from typing import Any

from site_tools import numbers
from site_tools.judge.outputs import failure_words
from site_tools.messages import Problem, problem
from site_tools.page.figures import Figure
from site_tools.page.pictures import plots
from site_tools.run.execution import Verified
from site_tools.run.results import Failure, Value
from site_tools.source.content import line_of


def check_figure(figure: Figure, value: Value, path: str) -> Problem | None:
    """Compare one figure with the value of its expression."""
    key, values = "figure_differs", dict[str, Any](value=repr(value))
    if isinstance(value, Failure):
        several = getattr(value.message, "key", "") == "value_several"
        key = "figure_several" if several else "figure_raises"
        values = {"failure": failure_words(value)}
    else:
        try:
            if numbers.agrees(figure.shown, value):
                return None
        except ValueError as error:
            key, values = "figure_not_number", {"error": error}
    values["shown"] = figure.shown
    values["expression"] = figure.expression
    return problem(path, figure.line, key, **values)


def check_figures(verified: Verified) -> list[Problem]:
    """Compare the figures of a page and of its pictures with their values.

    Where a block did not do what it must, those without a value are not named: they
    lack what it was to leave behind.
    """
    broken = False
    for copy, result in zip(verified.copies, verified.run.results, strict=True):
        raises = "raises" in copy.block.classes
        broken = broken or raises != bool(result.failure)
    problems = []
    for path, figure in verified.figures:
        value = verified.run.values[figure.expression]
        if broken and isinstance(value, Failure):
            continue
        other = verified.run.elsewhere.get(figure.expression, value)
        if wrong := _check_both(figure, value, other, path):
            problems.append(wrong)
    return problems


def _check_both(
    figure: Figure, value: Value, other: Value, path: str
) -> Problem | None:
    """Compare a figure with its value in each setting."""
    wrong = check_figure(figure, value, path)
    elsewhere = wrong
    if repr(other) != repr(value):
        elsewhere = check_figure(figure, other, path)
    if bool(wrong) == bool(elsewhere):
        return wrong
    values = {"shown": figure.shown, "expression": figure.expression}
    for name, each in (("here", value), ("there", other)):
        values[name] = str(each) if isinstance(each, Failure) else repr(each)
    return problem(path, figure.line, "figure_varies", **values)


def check_plots(verified: Verified) -> list[Problem]:
    """A problem for each plot that is drawn and not shown, or shown and not drawn."""
    page, results = verified.page, verified.run.results
    if any(result.failure for result in results):
        return []  # which is named where it failed
    drawn, shown = dict[str, int](), dict[str, int]()  # where, by name
    for copy, result in zip(verified.copies, results, strict=True):
        for name, _ in result.plots:
            drawn[name] = copy.block.fence.line
    for name, place in plots(page.body, page.id):
        shown[name] = line_of(page.body, place.start())
    told = {"folder": page.id.rpartition("/")[2], "plots": sorted(drawn)}
    problems = []
    for plot in sorted(drawn.keys() - shown):
        problems.append(page.problem(drawn[plot], "plot_not_shown", plot=plot, **told))
    for plot in sorted(shown.keys() - drawn):
        problems.append(page.problem(shown[plot], "plot_not_drawn", plot=plot, **told))
    return problems
