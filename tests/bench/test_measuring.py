"""Contenders are measured in turns, warm, each for its share of the time."""

from collections.abc import Callable

from bench.measuring import Comparison, measured, spread
from bench.results import Result, Spread


class Clock:
    """Seconds that pass only by ``spend``."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now

    def spend(self, name: str, *seconds: float) -> Callable[[], None]:
        """A contender that takes these seconds in turn, the last ones ever after."""
        left = list(seconds)

        def call() -> None:
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call


def compare(clock: Clock, contenders: dict, **given) -> Result:
    comparison = Comparison("subject", "setting", lambda: contenders, **given)
    return measured(comparison, clock=clock)


def test_the_first_call_is_not_counted():
    clock = Clock()
    slow_at_first = {"a": clock.spend("a", 100.0, 1.0)}
    found = compare(clock, slow_at_first, seconds=0, rounds=3).contenders["a"]
    assert found == Spread(1.0, 1.0, 1.0, 3)


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


def test_the_spread_is_the_median_with_the_quartiles():
    assert spread([4.0, 2.0, 1.0, 3.0, 5.0]) == Spread(3, 2, 4, 5)
    assert spread([1.0, 3.0]) == Spread(2, 1.5, 2.5, 2)
