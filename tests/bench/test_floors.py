"""What must be met is judged by the medians, and rests on what is measured."""

import pytest

from bench.__main__ import SUBJECTS
from bench.floors import FLOORS, Ceiling, Floor, judged
from bench.results import Result, Spread


def found(**medians: float) -> list[Result]:
    spreads = {name: Spread(m, m, m, 1) for name, m in medians.items()}
    return [Result("s", "8x128", {}, "", "seconds", spreads)]


@pytest.mark.parametrize(
    ("ours", "verdict"), [(1.0, "met"), (2.0, "met"), (2.1, "NOT met")]
)
def test_a_floor_is_a_ratio_of_medians(ours, verdict):
    floor = Floor("s", "8x128", "ours", "theirs", 15)
    ((came, line),) = judged([floor], found(ours=ours, theirs=30.0), "cpu")
    assert came == verdict
    assert line.startswith("s 8x128: ours against theirs: ")
    assert line.endswith("times, at least 15")


@pytest.mark.parametrize(("most", "verdict"), [(1.0, "met"), (0.9, "NOT met")])
def test_a_ceiling_is_an_amount(most, verdict):
    ceiling = Ceiling("s", "8x128", "ours", most, device="cuda")
    ((came, _),) = judged([ceiling], found(ours=1.0), "cuda")
    assert came == verdict
    assert list(judged([ceiling], found(ours=1.0), "cpu")) == []


@pytest.mark.parametrize("results", [[], found(ours=1.0), found(theirs=1.0)])
def test_what_was_not_measured_is_neither_met_nor_failed(results):
    floor = Floor("s", "8x128", "ours", "theirs", 15)
    assert [verdict for verdict, _ in judged([floor], results, "cpu")] == [
        "not measured"
    ]


def test_every_floor_names_a_comparison_that_is_made():
    made = {
        (device, comparison.subject, comparison.setting)
        for device in ("cpu", "cuda")
        for subject in SUBJECTS.values()
        for comparison in subject.comparisons(False, device)
    }
    named = {(floor.device, floor.subject, floor.setting) for floor in FLOORS}
    assert named <= made
    assert {subject for _, subject, _ in made} == SUBJECTS.keys()
