"""What a figure shows against the value of its expression."""

from collections.abc import Sequence

from site_tools import numbers
from site_tools.page.figures import Figure
from site_tools.problems import Problem
from site_tools.running.model import Failure


def check_figures(
    figures: Sequence[Figure], values: Sequence[int | float | Failure], path: str
) -> list[Problem]:
    """Compare each figure with the value of its expression."""
    return [
        problem
        for figure, value in zip(figures, values, strict=True)
        if (problem := check_figure(figure, value, path))
    ]


def check_figure(
    figure: Figure, value: int | float | Failure, path: str
) -> Problem | None:
    """Compare one figure with the value of its expression."""
    if isinstance(value, Failure):
        return Problem(
            path,
            figure.line,
            f"{figure.expression} raises {value.type}: {value.message}",
            "an expression over the names that the page's blocks leave behind",
            "correct the expression, or define the name in a block above or below",
        )
    try:
        if numbers.agrees(figure.shown, value):
            return None
    except ValueError as error:
        return Problem(
            path,
            figure.line,
            f"{figure.shown} = {figure.expression}: {error}",
            "a number and an expression that gives one",
            "correct the figure, or the expression it is bound to",
        )
    return Problem(
        path,
        figure.line,
        f"{figure.shown}",
        f"{figure.expression} = {value!r}, within half a unit of the last digit shown",
        "correct the figure, or the expression it is bound to",
    )
