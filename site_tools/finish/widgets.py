"""The room of each widget in a page, kept free until the widget is there.

A widget comes when a reader gets near it; what stands below must not move then. The
heights are those of the mounted widgets, of the taller of both languages, measured by
``tests/browser/test_widgets.py``.
"""

from typing import NamedTuple


class Room(NamedTuple):
    """Heights in rem, by the width of the screen; site.css has the limits."""

    narrow: float
    middle: float
    wide: float

    @property
    def style(self) -> str:
        heights = self._asdict().items()
        return "; ".join(f"--{name}: {height:g}" for name, height in heights)


# By what stands in ``data-lab``.
ROOMS = {
    "explorer": Room(71, 61, 57.6),
    "clip": Room(60.1, 56.1, 44),
    "alignment": Room(21, 21.5, 18.5),
    "variance": Room(61.7, 56.6, 41.3),
    "runs": Room(92.1, 86.2, 55.2),
    "kl/tokens": Room(34.3, 30.5, 30.5),
    "alignment/value_before_token": Room(20.5, 19.5, 18),
    "stations": Room(23, 22.1, 22.1),
    "strip/gae": Room(51.5, 44, 43.9),
    "strip/critic": Room(25, 20.5, 20.5),
    "strip/delta": Room(23.5, 18.5, 18.5),
    "strip/free": Room(64.1, 55, 49.3),
    "wall/free": Room(33, 33, 33),
    "doctor": Room(13, 12, 12),
    "wall/goal": Room(33.5, 33.5, 32.5),
    "train/ratio": Room(41.5, 37.5, 37.5),
    "train/clip": Room(43, 37.5, 37.5),
    "train/leash": Room(48, 39.5, 37.5),
    "train/entropy": Room(43, 39, 38.5),
    "train/sampling": Room(38, 30, 30),
    "train/push": Room(42, 34.5, 32.5),
    "train/baseline": Room(42, 34.5, 32.5),
    "clip/surrogate": Room(25.5, 23, 23),
    "explorer/inputs": Room(27.5, 25, 25),
    "explorer/why_sum_deltas": Room(25.5, 24.5, 24.5),
    "explorer/token_excesses": Room(20.5, 19.5, 19.5),
    "explorer/return_minus_value": Room(26.5, 25, 25),
    "explorer/td_error": Room(22.5, 21.5, 21.5),
    "explorer/token_level_rewards": Room(25.5, 24.5, 24.5),
    "explorer/slot_after_eos": Room(23, 22, 22),
}
