"""How costs grow with a size: powers, fitted on logarithmic axes."""

import math
from collections.abc import Iterable, Mapping

from site_tools.benchmarks.record import Result, Slope


def slopes(results: Iterable[Result]) -> list[Slope]:
    """Fit the growth of each contender that was measured at three sizes or more."""
    points: dict[tuple[str, str, str], dict[int, float]] = {}
    for result in results:
        for name, spread in result.contenders.items() if result.over else ():
            line = points.setdefault((result.subject, name, result.over), {})
            line[result.sizes[result.over]] = spread.median
    return [
        Slope(*who, exponent(line), sorted(line))
        for who, line in points.items()
        if len(line) >= 3
    ]


def exponent(line: Mapping[int, float]) -> float:
    """k of cost = c * size**k, by least squares of the logarithms."""
    x = [math.log(size) for size in line]
    y = [math.log(cost) for cost in line.values()]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    shared = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return shared / sum((a - mean_x) ** 2 for a in x)
