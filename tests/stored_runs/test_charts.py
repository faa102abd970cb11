"""Charts of stored runs: what is drawn, and that its figures are bound and right."""

import re

import pytest

from site_tools import numbers
from site_tools.judge.figures import check_figure
from site_tools.page.expressions import check_expression
from site_tools.page.pictures import read_picture
from site_tools.run.block import evaluate
from site_tools.stored_runs.chart import draw_chart, short_number
from site_tools.stored_runs.table import Chart
from tests.stored_runs import stand_in

PANELS = {"kl": ("KL", "KL"), "score": ("得分", "score")}
LINES = {"first": ("慢", "slow"), "second": ("快", "fast")}
CHART = Chart(PANELS, LINES)
RUNS = {
    "first": stand_in.run(kl=[0.5, 0.25, 0.0], score=[-1.25, 2.0, 1.5]),
    "second": stand_in.run(kl=[0.1, 1.0, 0.3], score=[0.5, 0.5, 0.5]),
}


def test_each_panel_has_a_line_for_each_run_at_its_height():
    svg = draw_chart(CHART, RUNS)
    lines = re.findall(
        r'class="([\w ]+)" vector-effect="non-scaling-stroke" d="(.*?)"', svg
    )
    assert lines == [
        # KL from 0 to 1 over 60 pixels: 0.5 lies 300 tenths of one below the edge.
        ("accent", "M0 300l1 150 1 150"),
        ("second dashed", "M0 540l1-540 1 420"),
        # The score from -1.25 to 2.
        ("accent", "M0 600l1-600 1 92"),
        ("second dashed", "M0 277l1 0 1 0"),
    ]
    assert svg.count("scale(65 0.1)") == 2  # three iterations over 130 pixels


def ticks(svg: str) -> list[str]:
    return re.findall(r"data-is=\"[^\"]*\">(.*?)<", svg)


def test_axes_show_the_least_and_the_greatest_that_was_measured():
    svg = draw_chart(CHART, RUNS)
    assert ticks(svg) == ["1", "0", "2", "−1.25", "1", "3", "1", "3"]
    alone = draw_chart(
        Chart({"score": PANELS["score"]}, {"second": LINES["second"]}), RUNS
    )
    assert ticks(alone) == ["0.500", "1", "3"]
    assert 'd="M0 300l1 0 1 0"' in alone  # a constant, in the middle


def test_its_figures_pass_the_check_that_every_picture_passes():
    svg = draw_chart(CHART, RUNS)
    figures, problems = read_picture(svg, "x.svg")
    assert problems == [] and len(figures) == 8
    page = {"stored_run": RUNS.__getitem__}
    for figure in figures:
        check_expression(figure.expression)
    values = [evaluate(figure.expression, page) for figure in figures]
    pairs = zip(figures, values, strict=True)
    assert not any(check_figure(figure, value, "x.svg") for figure, value in pairs)
    other = page | {"stored_run": {**RUNS, "second": RUNS["first"]}.__getitem__}
    values = [evaluate(figure.expression, other) for figure in figures]
    pairs = zip(figures, values, strict=True)
    found = [check_figure(figure, value, "x.svg") for figure, value in pairs]
    (problem,) = filter(None, found)
    assert (problem.found, "= 0.5," in problem.expected) == ("1", True)


def test_what_is_drawn_lies_within_the_picture():
    panels = {name: (f"KL {name}",) * 2 for name in "ABCDE"}
    columns = {name: [1.0, 2.0] for name in panels}
    runs = {name: stand_in.run(**columns) for name in ("first", "second", "third")}
    svg = draw_chart(Chart(panels, {**LINES, "third": ("三", "third")}), runs)
    width, height = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    moved = [(int(x), int(y)) for x, y in re.findall(r"translate\((\d+) (\d+)\)", svg)]
    assert width == 360
    assert all(x + 130 <= 360 and y <= height - 4 for x, y in moved)
    assert len(set(moved)) == len(moved) == 7  # five panels, two scales below them


@pytest.mark.parametrize(
    ("chart", "told"),
    [
        (Chart(PANELS, dict.fromkeys("abcde", ("a", "a"))), "must be 1 to 4, got 5"),
        (
            Chart({"loss": ("损失", "loss")}, LINES),
            "run first must have measured loss at two iterations at least, got 0",
        ),
        (
            Chart({"kl": ("KL", "the divergence from the reference")}, LINES),
            "'the divergence from the reference' must be 130 pixels wide at most",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(chart, told):
    with pytest.raises(ValueError, match=told):
        draw_chart(chart, RUNS)


@pytest.mark.parametrize("value", [0.0512, 9.996, 99.95, 0.99951, 1e-3, 123456.7, 5e-7])
def test_a_tick_is_what_it_stands_for(value):
    for signed in (value, -value):
        assert numbers.agrees(short_number(signed), signed)
        assert len(short_number(signed)) <= 7
