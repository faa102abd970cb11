"""Contenders measured in turns, so that what disturbs one disturbs all.

A subject's module says what is compared (``Comparison``); ``measured`` runs it. In each
round every contender has a turn, in an order drawn anew; a turn lasts its share of the
contender's seconds, and at least one call.
"""

import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.results import Result, Spread

Contender = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Comparison:
    """What is compared, and how long it may take.

    Args:
        subject: What all contenders do, as in ``--only``.
        setting: On what, as a reader is told; unique within the subject.
        prepare: Makes the contenders, by name, once their turn has come.
        sizes: The setting in numbers.
        over: The size over which the cost's growth is fitted, if it is.
        unit: Of what is measured; smaller is better.
        measure: Gives that of one call; seconds by the clock when left out.
        seconds: For each contender, once it is warm.
        rounds: Turns of each contender: the least number of its measurements.
        warm_up: Calls of each contender before the first round.
    """

    subject: str
    setting: str
    prepare: Callable[[], Mapping[str, Contender]]
    sizes: Mapping[str, int] = field(default_factory=dict)
    over: str = ""
    unit: str = "seconds"
    measure: Callable[[Contender], float] | None = None
    seconds: float = 1.0
    rounds: int = 7
    warm_up: int = 1


def nothing() -> None:
    """There is nothing to wait for on a CPU."""


def measured(
    comparison: Comparison,
    *,
    clock: Clock = time.perf_counter,
    wait: Callable[[], object] = nothing,
    seed: int = 0,
) -> Result:
    """Run a comparison.

    Args:
        comparison: What to run.
        clock: Seconds from any start.
        wait: Returns once everything that was called is done, on a GPU too.
        seed: Of the order in each round.
    """
    contenders = comparison.prepare()
    measure = comparison.measure or (lambda call: _seconds(call, clock, wait))
    for contender in contenders.values():
        for _ in range(comparison.warm_up):
            contender()
    wait()
    found: dict[str, list[float]] = {name: [] for name in contenders}
    draw = random.Random(seed)
    share = comparison.seconds / comparison.rounds
    for _ in range(comparison.rounds):
        for name in draw.sample(list(contenders), len(contenders)):
            end = clock() + share
            found[name].append(measure(contenders[name]))
            while clock() < end:
                found[name].append(measure(contenders[name]))
    spreads = {name: spread(values) for name, values in found.items()}
    kept = comparison.subject, comparison.setting, comparison.sizes, comparison.over
    return Result(*kept, comparison.unit, spreads)


def spread(values: list[float]) -> Spread:
    """The median and the quartiles of at least one number."""
    lower, median, upper = values[0], values[0], values[0]
    if len(values) > 1:
        lower, median, upper = statistics.quantiles(values, method="inclusive")
    return Spread(median, lower, upper, len(values))


def _seconds(call: Contender, clock: Clock, wait: Callable[[], object]) -> float:
    wait()
    start = clock()
    call()
    wait()
    return clock() - start
