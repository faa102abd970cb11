"""An undecorated kernel: scores of whole responses among those to the same prompt."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.checks import require_finite, require_row_tokens
from ppo_ref.precision import at_least_float32


class Grouped(NamedTuple):
    """One number per row.

    Attributes:
        excess: The row's score less the mean of its group.
        variance: Of the group's scores, with Bessel's correction.
        rows: How many the group has.
    """

    excess: Tensor
    variance: Tensor
    rows: Tensor


@torch.no_grad()
def grouped(
    function: str, token_level_rewards: Tensor, response_mask: Tensor, groups: Tensor
) -> Grouped:
    """Sum the rewards of each row, and compare the sums within each group.

    Args:
        function: Name of the public function that was called.
        token_level_rewards: Never read outside the mask.
        response_mask: True where the token counts.
        groups: To which group each row belongs, as any integers.

    Returns:
        In the order of the rows, without gradient. Where all scores of a group are
        equal, excess and variance are exactly 0.

    Raises:
        ValueError: if a group is of one row, a row has no token, or a reward is not
            finite where it counts.

    Example:
        >>> mask = torch.tensor([[True, True], [True, False]])
        >>> groups = torch.tensor([4, 4])
        >>> grouped("f", torch.tensor([[1., 2.], [1., 9.]]), mask, groups).excess
        tensor([ 1., -1.])
    """
    require_row_tokens(function, response_mask)
    require_finite(function, response_mask, token_level_rewards=token_level_rewards)
    names, index, sizes = torch.unique(groups, return_inverse=True, return_counts=True)
    _require_company(function, names, sizes)
    rewards = at_least_float32(token_level_rewards)
    scores = torch.where(response_mask, rewards, 0).sum(1)
    # Seen from the least, equal scores are 0, and their mean cannot round away.
    least = scores.new_zeros(len(sizes))
    least.scatter_reduce_(0, index, scores, "amin", include_self=False)
    above, rows = scores - least[index], sizes[index]
    excess = above - _sums(above, index)[index] / rows
    return Grouped(excess, _sums(excess.square(), index)[index] / (rows - 1), rows)


def _sums(of_rows: Tensor, index: Tensor) -> Tensor:
    """By group; as long as there are rows, the most groups there can be."""
    return torch.zeros_like(of_rows).index_add_(0, index, of_rows)


def _require_company(function: str, names: Tensor, sizes: Tensor) -> None:
    lone = sizes < 2
    if lone.any():
        raise ValueError(
            f"{function}: groups must hold at least 2 rows each, got 1 row of group "
            f"{names[lone][0].item()}, which has nothing to be compared with"
        )
