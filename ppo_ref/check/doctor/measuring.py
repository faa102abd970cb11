"""Features of a series of figures: its ends, its noise, its jumps."""

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from statistics import median

PARTS = 5  # of a run, whose means are compared
BEFORE = 20  # values before a jump that it is compared with
FEWEST = 5  # of them, without which nothing is called a jump
# The median bend (a - 2 b + c) of pure noise, in standard deviations of the noise.
BEND = 1.65
ROUNDING = 1e-9  # of a mean
CLEAR = 99.0  # standard errors where there is no noise at all


def measure(values: Sequence[float], *, from_start: bool = True) -> dict[str, float]:
    """Measure the features of a series that cases are made of.

    A run is cut into five parts of equal length, and means of parts are compared, so
    that one odd step decides nothing. ``from_start`` says that the first value is the
    first step's.

    - ``steps`` is how many were logged, ``lost`` how many of them are not finite, and
      ``gone`` how many of these are at the end, 0 if there was a gap as long before.
      All else is about the finite ones.
    - ``begin``, ``min``, ``max``, ``mean``, ``range``; ``size``, the largest without
      its sign; ``extreme``, the largest mean of a part without its sign.
    - ``first`` and ``last``: the mean of the first and of the last part; ``usual``, the
      median of the last.
    - ``early``: the smallest size among the first three steps of a run; 0 where it
      doubles within them, since it grows from nothing.
    - ``z``: last minus first, in standard errors; ``rise_z``: the highest part minus
      the first. ``may_rise``: last minus first and two of these errors more, as a
      share of the range. ``growth``: last over first.
    - ``fell``: the share of the beginning that was lost, 0 where noise can be the
      reason; ``turned``: the share of what was gained that was lost again, likewise.
      ``slid``: the share of the second highest value that no value of the last part
      reaches, if it is more than twice the noise; four values suffice for it.
      ``leapt``: by how much each value of the last part lies above the first two
      steps, 0 if one does not.
    - ``jump``: the largest value over the median of the (up to 20) before it that are
      not 0.

    What cannot be told is nan, and of nan no case holds.
    """
    x = [value for value in values if math.isfinite(value)]
    lost = len(values) - len(x)
    gone = _gone(values)
    if not x:
        one = measure([0.0])
        told = {"steps": lost, "lost": lost, "gone": lost}
        return dict.fromkeys(one, math.nan) | told
    parts = _parts(x)
    means = [_mean(part) for part in parts]
    top = means.index(max(means))
    first = means[0]
    last = means[-1]
    sizes = [abs(value) for value in x]
    early = math.nan
    if from_start and len(x) >= 3:
        early = 0.0 if sizes[2] > 2 * sizes[0] else min(sizes[:3])
    return {
        "steps": len(values),
        "lost": lost,
        "gone": gone,
        "begin": x[0],
        "first": first,
        "last": last,
        "usual": median(parts[-1]),
        "early": early,
        "min": min(x),
        "max": max(x),
        "mean": _mean(x),
        "range": max(x) - min(x),
        "size": max(sizes),
        "extreme": max(map(abs, means)),
        "z": _errors(parts[0], parts[-1]),
        "rise_z": _errors(parts[0], parts[top]),
        "may_rise": _may_rise(parts, max(x) - min(x)),
        "growth": _share(last, first),
        "fell": _fell(x, parts),
        "turned": _turned(parts, top),
        "slid": _slid(x, max(parts[-1])),
        "leapt": max(0.0, min(parts[-1]) - max(x[:2])),
        "jump": _jump(sizes),
    }


def _gone(values: Sequence[float]) -> int:
    """The number of values lost at the end, if more than in any gap before it."""
    runs = [(there, len([*run])) for there, run in groupby(map(math.isfinite, values))]
    if not runs or runs[-1][0]:
        return 0
    gaps = [length for there, length in runs[:-1] if not there]
    return runs[-1][1] if runs[-1][1] > max(gaps, default=0) else 0


def _parts(x: Sequence[float]) -> list[Sequence[float]]:
    number = min(PARTS, len(x))
    ends = [len(x) * i // number for i in range(number + 1)]
    return [x[a:b] for a, b in pairwise(ends)]


def _errors(one: Sequence[float], other: Sequence[float]) -> float:
    """How much higher the mean of the other is, in standard errors of the difference.

    Of a single value the noise is not known.
    """
    if len(one) < 2 or len(other) < 2:
        return math.nan
    before, after = _mean(one), _mean(other)
    difference = after - before
    rounding = ROUNDING * max(abs(before), abs(after))
    if abs(difference) <= rounding:
        return 0.0
    error = _error(one, other)
    if error <= rounding:
        return math.copysign(CLEAR, difference)
    if not math.isfinite(error):  # numbers too large to be squared
        return math.nan
    return max(-CLEAR, min(CLEAR, difference / error))


def _may_rise(parts: Sequence[Sequence[float]], span: float) -> float:
    """The rise that the noise leaves possible."""
    one, other = parts[0], parts[-1]
    if len(one) < 2 or len(other) < 2:
        return math.nan
    return _share(_mean(other) - _mean(one) + 2 * _error(one, other), span)


def _error(one: Sequence[float], other: Sequence[float]) -> float:
    return math.sqrt(_squared_error(one) + _squared_error(other))


def _fell(x: Sequence[float], parts: Sequence[Sequence[float]]) -> float:
    """The share of the beginning that was lost, by one of three signs that it is.

    The last part lies more than three standard errors below the first; or, as where a
    run breaks early, each of its values lies below each of the first three steps; or,
    as where it breaks at once, the last three parts are next to nothing beside the
    first two steps.
    """
    if len(x) < FEWEST:
        return 0.0
    first = _mean(parts[0])
    fell = 0.0
    if _errors(parts[0], parts[-1]) < -3.0:
        fell = (first - _mean(parts[-1])) / abs(first) if first else 1.0
    start = min(x[:3])
    if start:
        fell = max(fell, (start - max(parts[-1])) / abs(start))
    begun = _mean(x[:2])
    later = [abs(value) for part in parts[2:] for value in part]
    if begun > 0.0 and max(later) < begun / 10:
        fell = max(fell, 1 - max(later) / begun)
    return fell


def _turned(parts: Sequence[Sequence[float]], top: int) -> float:
    """The share of what was gained that was lost again."""
    rose = _errors(parts[0], parts[top])
    dropped = _errors(parts[-1], parts[top])
    if not (rose > 3.0 and dropped > 4.0):
        return 0.0
    best = _mean(parts[top])
    return (best - _mean(parts[-1])) / (best - _mean(parts[0]))


def _slid(x: Sequence[float], reached: float) -> float:
    if len(x) < 4:
        return 0.0
    second = sorted(x)[-2]
    bends = [abs(a - 2 * b + c) for a, b, c in zip(x, x[1:], x[2:], strict=False)]
    noise = median(bends) / BEND
    if second == 0.0 or not second - reached > 2 * noise:
        return 0.0
    return (second - reached) / abs(second)


def _squared_error(x: Sequence[float]) -> float:
    """The variance of a mean, from the spread of its values."""
    mean = _mean(x)
    apart = [value - mean for value in x]
    return math.fsum(each * each / (len(x) - 1) / len(x) for each in apart)


def _jump(sizes: Sequence[float]) -> float:
    """The largest value over the median of those before it; zeros are left out.

    Where most groups teach nothing, most gradients are 0, and the next one that is not
    would be a jump from nothing.
    """
    largest = 1.0
    before: list[float] = []
    for size in sizes:
        if size > 0.0:
            if len(before) >= FEWEST:
                largest = max(largest, size / median(before))
            before = [*before[1 - BEFORE :], size]
    return largest


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else math.nan


def _mean(x: Sequence[float]) -> float:
    """Numbers whose sum would be too large for a float have a mean, too."""
    return math.fsum(value / len(x) for value in x)
