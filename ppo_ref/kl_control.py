"""A price of KL that rises while the KL is above its target, and falls below it."""

import math

from ppo_ref.ranges import require_above, require_at_least
from ppo_ref.shapes import checked

MOST_ERROR = 0.2  # beyond it a KL far off counts like one 20 % off


@checked
def adaptive_kl_coef(
    *, kl_coef: float, kl: float, target: float, horizon: float, steps: int
) -> float:
    """The coefficient after a batch: higher if the KL was above its target.

        error = clip(kl / target - 1, -0.2, 0.2)
        kl_coef' = kl_coef * (1 + error * steps / horizon)

    Args:
        kl_coef: With which the batch was priced, reward units per nat; 0 stays 0.
        kl: Mean of the batch, in the unit of ``target``; an estimate may be negative.
        target: Where the KL is to be, above 0; in nats per token or per response.
        horizon: Responses in which the coefficient moves by a fifth at most; an
            infinite one keeps it.
        steps: Responses of the batch.

    Returns:
        Reward units per nat, at least 0.

    Raises:
        ValueError: if ``kl_coef`` is negative, ``kl`` not finite, ``target`` or
            ``horizon`` not above 0, ``steps`` below 1, or so large for the horizon
            that the coefficient could fall to 0 at once.

    Source:
        Ziegler et al. (2019), arXiv:1909.08593, section 2.2; verl v0.9.1,
        verl/trainer/ppo/core_algos.py, AdaptiveKLController.

    Example:
        >>> given = {"target": 6, "horizon": 10_000, "steps": 500}
        >>> adaptive_kl_coef(kl_coef=0.5, kl=60.0, **given)
        0.505
    """
    name = "adaptive_kl_coef"
    require_at_least(name, 0, kl_coef=kl_coef)
    require_above(name, 0, target=target, horizon=horizon)
    require_at_least(name, 1, steps=steps)
    if not math.isfinite(kl):
        raise ValueError(f"{name}: kl must be finite, got {kl}")
    if MOST_ERROR * steps >= horizon:
        most = horizon / MOST_ERROR
        raise ValueError(
            f"{name}: steps must be below 5 times the horizon, {most:g}, got {steps}"
        )
    error = min(max(kl / target - 1, -MOST_ERROR), MOST_ERROR)
    return kl_coef * (1 + error * steps / horizon)
