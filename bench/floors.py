"""How far ahead ``ppo_ref`` must be: what ``make bench`` holds it to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bench.results import Result


@dataclass(frozen=True)
class Floor:
    """A contender takes at most 1 / ``least`` of what another one takes.

    Args:
        subject: Of the comparison, like ``setting``.
        contender: Who must be ahead.
        against: Of whom.
        least: The least ratio of the medians.
        device: Where it must be: cpu or cuda.
    """

    subject: str
    setting: str
    contender: str
    against: str
    least: float
    device: str = "cpu"

    def __str__(self) -> str:
        return f"{self.subject} {self.setting}: {self.contender} against {self.against}"

    def value(self, result: Result) -> float:
        """What must be enough."""
        return result.ratio(self.contender, self.against)

    def judge(self, result: Result) -> tuple[bool, str]:
        """Whether it is met, and the figures."""
        ratio = self.value(result)
        return ratio >= self.least, f"{ratio:.2f} times, at least {self.least:g}"


@dataclass(frozen=True)
class Ceiling:
    """A contender takes at most so much, in the comparison's unit."""

    subject: str
    setting: str
    contender: str
    most: float
    device: str = "cpu"

    against: ClassVar[None] = None

    def __str__(self) -> str:
        return f"{self.subject} {self.setting}: {self.contender}"

    def value(self, result: Result) -> float:
        """What must not be too much."""
        return result.contenders[self.contender].median

    def judge(self, result: Result) -> tuple[bool, str]:
        """Whether it is met, and the figures."""
        median = self.value(result)
        return median <= self.most, f"{median:.3g} {result.unit}, at most {self.most:g}"


GAE = "gae"
FACTORS = {  # of verl's loop: the checked function, the kernel, and it without gaps
    "8x128": (15, 40, 50),
    "64x1024": (35, 80, 120),
    "256x2048": (8, 30, 70),
    "32x8192": (100, 250, 500),
    "4x32768": (300, 2000, 3000),
}
LOG_PROBS, STEP = "log-probs and entropy", "whole step"
LOGITS = 4 * 1024 * 32000  # bytes
FLOORS: Sequence[Floor | Ceiling] = (
    *(
        Floor(GAE, f"{kind} {at}", contender, "verl 0.9.1", factors[place])
        for place, (kind, contender) in enumerate(
            (("masked", "gae"), ("masked", "kernel"), ("padded", "kernel"))
        )
        for at, factors in FACTORS.items()
    ),
    *(
        Floor(GAE, f"padded {at}", "kernel", "copy", 1 / 6)
        for at in ("256x2048", "32x8192", "4x32768")
    ),
    *(
        Floor(GAE, f"dense {at}", "gae", peer, 1)
        for at in FACTORS
        for peer in ("TorchRL 0.14.1 vectorised", "Stable-Baselines3 2.9.2")
    ),
    *(
        Floor(LOG_PROBS, f"1024x32000 {passes}", contender, against, factor)
        for passes in ("forward", "forward and backward")
        for contender, factor in (("together", 1.4), ("together, compiled", 3.5))
        for against in ("verl 0.9.1", "apart")
    ),
    Floor(STEP, "width 256", "loss in chunks", "verl 0.9.1", 3),
    Floor(STEP, "width 256, memory", "logits kept", "verl 0.9.1", 4),
    Floor(STEP, "width 256, memory", "loss in chunks", "verl 0.9.1", 4),
    Floor(STEP, "width 256, memory", "in chunks", "verl 0.9.1", 4),
    Ceiling(STEP, "width 256, memory", "in chunks", LOGITS / 8),
    Ceiling(GAE, "masked 32x8192", "gae", 0.5e-3, device="cuda"),
)


def judged(
    floors: Iterable[Floor | Ceiling], results: Sequence[Result], device: str
) -> Iterator[tuple[str, str]]:
    """A verdict for each floor that holds on the device, and the line that says it.

    Yields:
        "met", "NOT met", or "not measured" where a contender was not there.
    """
    for floor, result in measured(floors, results, device):
        if result is None:
            yield "not measured", str(floor)
            continue
        met, figures = floor.judge(result)
        yield "met" if met else "NOT met", f"{floor}: {figures}"


def measured(
    floors: Iterable[Floor | Ceiling], results: Sequence[Result], device: str
) -> Iterator[tuple[Floor | Ceiling, Result | None]]:
    """Each floor of the device, and the comparison that judges it, if there was one."""
    found = {(result.subject, result.setting): result for result in results}
    for floor in floors:
        result = found.get((floor.subject, floor.setting))
        there = result.contenders.keys() if result else set()
        needed = {floor.contender, floor.against} - {None}
        if floor.device == device:
            yield floor, result if needed <= there else None
