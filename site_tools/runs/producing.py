"""How a run is produced. What this imports of ``ppo_ref`` is what a run rests on."""

from collections.abc import Iterable
from typing import Any

from site_tools.runs.table import RUNS


def produce(name: str) -> Iterable[dict[str, Any]]:
    """What a run of the table measures, one iteration after the other.

    Args:
        name: Of a run in the table.

    Returns:
        For each iteration its statistics, numbers by name; behind them, if there are
        any, records of that iteration: ``{"record": "what it is", ...}``.
    """
    raise NotImplementedError(f"the trainer that makes {RUNS[name]} is not there yet")
