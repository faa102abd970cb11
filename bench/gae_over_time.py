"""How the cost of GAE grows with the length of a response."""

from collections.abc import Iterator
from functools import partial

from bench import gae
from bench.measuring import Comparison, Contender
from tests.differential import peers, wheels

SUBJECT = "gae over time"
ROWS = 4
LENGTHS = tuple(2**power for power in range(7, 18))  # to 131072
LONGEST_LOOP = 8192  # four times as many slots take seconds a call


def comparisons(quick: bool, device: str) -> Iterator[Comparison]:
    """Four masked rows of each length."""
    for time in LENGTHS[:3] if quick else LENGTHS:
        yield Comparison(
            SUBJECT,
            f"masked {ROWS}x{time}",
            partial(contenders, time, device),
            sizes={"batch": ROWS, "time": time},
            over="time",
            seconds=0.01 if quick else 0.7,
            rounds=3 if quick else 7,
        )


def contenders(time: int, device: str) -> dict[str, Contender]:
    """Ours at every length, verl's loop while it takes less than a second."""
    given = gae.rows("masked", ROWS, time, device)
    found = gae.ours(given)
    if time <= LONGEST_LOOP and wheels.find(peers.NOW):
        found[peers.NOW] = gae.loop(given)
    return found
