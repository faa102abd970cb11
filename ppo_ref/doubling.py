"""Discounted sums over what follows, in as many steps as a length has digits."""

import torch
from torch import Tensor

# A weight below it changes no sum that can be told apart, in float64 neither.
NEGLIGIBLE = 1e-30


def discounted_suffix_sum(
    x: Tensor, discount: float, terms: int | None = None
) -> Tensor:
    """Sum what follows, each step ahead discounted once more.

        y_j = x_j + discount * x_{j+1} + discount**2 * x_{j+2} + ...

    The binary digits of ``terms`` are read from the left: a digit doubles the number
    of terms held, a 1 adds one more. The weights stay Python floats; rounded to
    float32 and compounded over 16384 tokens they would be wrong in the fifth digit.

    Args:
        x: One number per token, packed.
        discount: Factor per token, in [0, 1].
        terms: How many terms each sum holds; all of them when left out.

    Returns:
        The same shape; beyond the end of the row there is nothing to add.

    Example:
        >>> discounted_suffix_sum(torch.tensor([[4., 2., 8.]]), 0.5)
        tensor([[7., 6., 8.]])
        >>> discounted_suffix_sum(torch.tensor([[4., 2., 8.]]), 0.5, terms=2)
        tensor([[5., 6., 8.]])
    """
    length = x.shape[-1]
    if terms is None or terms >= length:
        terms = 1 << max(length - 1, 0).bit_length()
    total, held, free = x, 1, [torch.empty_like(x), torch.empty_like(x)]
    for digit in f"{terms:b}"[1:]:
        if discount**held < NEGLIGIBLE:
            break
        total, free = _add_later(total, total, held, discount, free), free[::-1]
        held *= 2
        if digit == "1":
            total, free = _add_later(x, total, 1, discount, free), free[::-1]
            held += 1
    return total


def _add_later(
    x: Tensor, later: Tensor, steps: int, discount: float, free: list[Tensor]
) -> Tensor:
    # Memory that is new at every step costs more than the sums.
    total = free[0].copy_(x)
    total[..., :-steps].add_(later[..., steps:], alpha=discount**steps)
    return total
