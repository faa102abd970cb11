"""Contenders are measured in turns, warm, each for its share of the time."""

import pytest

from bench.measuring import Comparison, measured, spread
from bench.results import Result, Spread
from tests.bench.clock import Clock


def compare(clock: Clock, contenders: dict, **given) -> Result:
    comparison = Comparison("subject", "setting", lambda: contenders, **given)
    return measured(comparison, clock=clock)


def test_the_first_call_is_not_counted():
    clock = Clock()
    slow_at_first = {"a": clock.spend("a", 100.0, 1.0)}
    found = compare(clock, slow_at_first, seconds=0, rounds=3).contenders["a"]
    assert found == Spread(1.0, 1.0, 1.0, 3)


def test_without_a_warm_up_it_is():
    clock = Clock()
    contenders = {"a": clock.spend("a", 100.0, 1.0)}
    found = compare(clock, contenders, seconds=0, rounds=1, warm_up=0)
    assert found.contenders["a"].median == 100


def test_every_contender_has_its_seconds_and_a_slow_one_a_call_in_each_round():
    clock = Clock()
    contenders = {
        "quick": clock.spend("quick", 0.125),
        "slow": clock.spend("slow", 9.0),
    }
    found = compare(clock, contenders, seconds=4, rounds=4).contenders
    assert found["slow"] == Spread(9.0, 9.0, 9.0, 4)
    assert found["quick"] == Spread(0.125, 0.125, 0.125, 32)


def test_turns_are_interleaved_and_their_order_changes():
    clock = Clock()
    names = "abc"
    contenders = {name: clock.spend(name, 1.0) for name in names}
    compare(clock, contenders, seconds=0, rounds=20, warm_up=0)
    called = "".join(clock.calls)
    rounds = [called[start : start + 3] for start in range(0, 60, 3)]
    assert all(sorted(turn) == list(names) for turn in rounds)
    assert len({turn[0] for turn in rounds}) == 3


def test_a_disturbance_halfway_meets_all_contenders():
    clock = Clock()
    contenders = {
        name: clock.spend(name, *[1.0] * 5, *[3.0] * 5) for name in ("a", "b")
    }
    found = compare(clock, contenders, seconds=0, rounds=10, warm_up=0)
    assert found.ratio("a", "b") == 1


def test_waiting_for_the_device_is_measured():
    clock = Clock()
    wait = clock.spend("wait", 1.0)
    contenders = {"a": clock.spend("a", 0.5)}
    comparison = Comparison("s", "s", lambda: contenders, seconds=0, rounds=2)
    found = measured(comparison, clock=clock, wait=wait)
    assert found.contenders["a"].median == 1.5


def test_a_comparison_may_measure_something_else():
    contenders = {"small": lambda: 10, "large": lambda: 80}
    found = compare(
        Clock(), contenders, unit="bytes", measure=lambda c: c(), seconds=0, rounds=2
    )
    assert found.unit == "bytes"
    assert found.ratio("small", "large") == 8


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5.0], Spread(5, 5, 5, 1)),
        ([4.0, 2.0, 1.0, 3.0, 5.0], Spread(3, 2, 4, 5)),
        ([1.0, 3.0], Spread(2, 1.5, 2.5, 2)),
    ],
)
def test_the_spread_is_the_median_with_the_quartiles(values, expected):
    assert spread(values) == expected
