"""A trainer that trains nothing: for the tests of how runs are stored and drawn."""

from collections.abc import Iterator
from typing import Any

from ppo_ref.train.stored_runs import StoredRun
from site_tools.stored_runs.table import Chart, Recipe

RUNS = {
    "first": Recipe("Falls slowly.", {"rate": 0.9, "limits": (0.2, 0.3)}, seed=1),
    "second": Recipe("Falls fast.", {"rate": 0.5}, seed=2),
    "third": Recipe("Stays.", {"rate": 1.0}, seed=3),
}
CHART = Chart(
    {"kl": ("KL", "KL"), "score": ("得分", "score")},
    {"first": ("慢", "slow"), "second": ("快", "fast")},
)


def produce(name: str) -> Iterator[dict[str, Any]]:
    """Three iterations, a record behind the second."""
    rate = RUNS[name].options["rate"]
    for iteration in range(3):
        statistics: dict[str, Any] = {"kl": rate**iteration / 3}
        if iteration % 2 == 0:
            statistics["score"] = float(iteration)
        yield statistics
        if iteration == 1:
            yield {"record": "row 0", "ids": [3, 4], "kl": [1 / 3, -1e-9 / 3]}


def one_fails(name: str) -> Iterator[dict[str, Any]]:
    """Like the others, but the second run has a fault on the way."""
    for number, line in enumerate(produce(name)):
        if name == "second" and number == 2:
            raise ValueError("the actor has no gradient")
        yield line


def run(**columns: list[float]) -> StoredRun:
    """A run with these statistics."""
    iterations = [
        {"iteration": at, **dict(zip(columns, values, strict=True))}
        for at, values in enumerate(zip(*columns.values(), strict=True), 1)
    ]
    return StoredRun({}, iterations, [])
