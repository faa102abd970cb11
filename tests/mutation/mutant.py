"""What a mutant is, for those who judge it without the tool that makes them."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A module with one change.

    Args:
        line: The first line that changed, from 1.
        change: That line before and after, as in ``a + b -> a - b``.
        text: The whole module with the change.
    """

    line: int
    change: str
    text: str
