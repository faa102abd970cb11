"""How fast a network may learn as a run goes on."""

from ppo_ref.ranges import require_index


def learning_rate_share(step: int, steps: int, warm_up: int) -> float:
    """The share of its peak that a learning rate has: it rises, then falls to 0.

        share = min((step + 1) / warm_up, 1 - step / steps)

    The first steps of Adam are long whatever the gradient, as its averages have seen
    little; the last ones should not undo each other.

    Args:
        step: Which one, from 0.
        steps: How many the run has.
        warm_up: In how many of them the share rises, unless it falls before.

    Returns:
        Above 0, at most 1.

    Raises:
        ValueError: if there is no such step.

    Example:
        >>> [learning_rate_share(step, steps=4, warm_up=2) for step in range(4)]
        [0.5, 0.75, 0.5, 0.25]
    """
    require_index("learning_rate_share", steps, step=step)
    return min((step + 1) / warm_up, 1 - step / steps)
