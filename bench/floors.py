"""How far ahead ``ppo_ref`` must be: what ``make bench`` holds it to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.language_model import GRPO_MEMORY, GRPO_SECONDS, OURS
from bench.language_model import SUBJECT as LANGUAGE_MODEL
from bench.language_model import THEIRS as TRL
from bench.results import Result
from bench.steps import LIGER
from bench.whole_step import (
    BY_LOSS,
    FUSED,
    HUGE,
    IN_CHUNKS,
    KEPT,
    LARGE,
    PRODUCTS,
    SMALL,
    UNPADDED,
)


@dataclass(frozen=True)
class Floor:
    """A contender takes at most 1 / ``least`` of what another one takes.

    Args:
        subject: Of the comparison, like ``setting``.
        contender: Who must be ahead.
        against: Of whom.
        least: The least ratio of the medians.
        device: Where it must be: cpu or cuda.
        others: Of whom else; the one that takes least is judged by.
    """

    subject: str
    setting: str
    contender: str
    against: str
    least: float
    device: str = "cpu"
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.subject} {self.setting}: {self.named}"

    @property
    def named(self) -> str:
        """Who against whom."""
        return f"{self.contender} against {' or '.join((self.against, *self.others))}"

    @property
    def needed(self) -> set[str]:
        """Who must have been measured."""
        return {self.contender, self.against, *self.others}

    def value(self, result: Result) -> float:
        """What must be enough."""
        others = self.needed - {self.contender}
        return min(result.ratio(self.contender, other) for other in others)

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

    def __str__(self) -> str:
        return f"{self.subject} {self.setting}: {self.named}"

    @property
    def named(self) -> str:
        """Who."""
        return self.contender

    @property
    def needed(self) -> set[str]:
        """Who must have been measured."""
        return {self.contender}

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
    Floor(STEP, SMALL.name, BY_LOSS, "verl 0.9.1", 3),
    *(
        Floor(STEP, f"{SMALL.name}, memory", contender, "verl 0.9.1", 4)
        for contender in (KEPT, BY_LOSS, IN_CHUNKS)
    ),
    Ceiling(STEP, f"{SMALL.name}, memory", IN_CHUNKS, LOGITS / 8),
    *(
        Floor(STEP, setting.name + ending, BY_LOSS, UNPADDED, 1, others=others)
        for setting in LARGE
        for ending in ("", ", memory")
        for others in [(FUSED,) if setting == HUGE else (FUSED, LIGER)]
    ),
    *(Floor(STEP, setting.name, BY_LOSS, PRODUCTS, 1 / 1.3) for setting in LARGE),
    *(
        Floor(LANGUAGE_MODEL, setting, OURS, TRL, 1)
        for setting in (GRPO_SECONDS, GRPO_MEMORY)
    ),
    Ceiling("training", "PPO", "1 thread", 30),  # its 100 iterations, in seconds
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
        if floor.device == device:
            yield floor, result if floor.needed <= there else None
