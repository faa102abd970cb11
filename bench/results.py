"""What was measured: spreads of contenders, and how a cost grows with a size."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median and the quartiles of ``n`` measurements."""

    median: float
    lower_quartile: float
    upper_quartile: float
    n: int


@dataclass(frozen=True)
class Result:
    """What one comparison gave; ``unit`` is seconds or bytes, smaller is better."""

    subject: str
    setting: str
    sizes: Mapping[str, int]
    over: str
    unit: str
    contenders: Mapping[str, Spread]

    def ratio(self, contender: str, against: str) -> float:
        """How many times as much ``against`` takes."""
        return self.contenders[against].median / self.contenders[contender].median


@dataclass(frozen=True)
class Slope:
    """The exponent k of cost = c * size**k of one contender."""

    subject: str
    contender: str
    exponent: float
    points: Mapping[int, float]


def slopes(results: Iterable[Result]) -> list[Slope]:
    """The growth of each contender that was measured at three sizes or more."""
    points: dict[tuple[str, str], dict[int, float]] = {}
    for result in results:
        for name, spread in result.contenders.items() if result.over else ():
            line = points.setdefault((result.subject, name), {})
            line[result.sizes[result.over]] = spread.median
    return [
        Slope(subject, name, exponent(line), line)
        for (subject, name), line in points.items()
        if len(line) >= 3
    ]


def exponent(line: Mapping[int, float]) -> float:
    """k of cost = c * size**k, by least squares of the logarithms.

    Example:
        >>> round(exponent({8: 64.0, 16: 256.0, 32: 1024.0}), 6)
        2.0
    """
    x = [math.log(size) for size in line]
    y = [math.log(cost) for cost in line.values()]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    shared = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return shared / sum((a - mean_x) ** 2 for a in x)


def about(results: Sequence[Result], subject: str, unit: str = "") -> list[Result]:
    """The results of a subject, of one unit if it is named."""
    return [r for r in results if r.subject == subject and unit in ("", r.unit)]
