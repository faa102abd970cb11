"""Undecorated kernels: gaps out of the mask, discounted sums by doubling, gaps back in.

Every function keeps its shapes and asks nothing of the data, so that torch.compile
and a GPU run through it without waiting.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.precision import at_least_float32


def token_ranks(response_mask: Tensor) -> Tensor:
    """The number of counted tokens before each slot.

    Args:
        response_mask: True where the token counts, time last.

    Returns:
        A token's own rank; in a slot that does not count, the next token's.

    Example:
        >>> token_ranks(torch.tensor([[True, False, True, True]]))
        tensor([[0, 1, 1, 2]])
    """
    counts = response_mask.long()
    return counts.cumsum(-1) - counts


def pack(x: Tensor, response_mask: Tensor, ranks: Tensor) -> Tensor:
    """Move the tokens that count to the front of their row, in order.

    Args:
        x: One number per slot; never read outside the mask.
        response_mask: True where the token counts.
        ranks: The mask's ``token_ranks``.

    Returns:
        The same shape, zeros behind the tokens.

    Example:
        >>> mask = torch.tensor([[True, False, True, True]])
        >>> pack(torch.tensor([[1., 9., 2., 3.]]), mask, token_ranks(mask))
        tensor([[1., 2., 3., 0.]])
    """
    return torch.zeros_like(x).scatter_add(-1, ranks, torch.where(response_mask, x, 0))


def unpack(packed: Tensor, response_mask: Tensor, ranks: Tensor) -> Tensor:
    """Move packed tokens back to their slots.

    Args:
        packed: One number per token, as ``pack`` lays them.
        response_mask: True where the token counts.
        ranks: The mask's ``token_ranks``.

    Returns:
        The same shape, 0 outside the mask.

    Example:
        >>> mask = torch.tensor([[True, False, True, True]])
        >>> unpack(torch.tensor([[1., 2., 3., 0.]]), mask, token_ranks(mask))
        tensor([[1., 0., 2., 3.]])
    """
    return torch.where(response_mask, packed.gather(-1, ranks), 0)


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
    total, held = x, 1
    for digit in f"{terms:b}"[1:]:
        total, held = _add_later(total, total, held, discount), 2 * held
        if digit == "1":
            total, held = _add_later(x, total, 1, discount), held + 1
    return total


def _add_later(x: Tensor, later: Tensor, steps: int, discount: float) -> Tensor:
    shifted = pad(later[..., steps:], (0, steps))
    return torch.add(x, shifted, alpha=discount**steps)


@torch.no_grad()
def discounted_residuals(
    token_level_rewards: Tensor,
    values: Tensor,
    response_mask: Tensor,
    bootstrap_values: Tensor | None,
    gamma: float,
    discount: float,
    terms: int | None = None,
) -> Tensor:
    """Discounted sums of TD residuals over the tokens that count.

        delta_t = r_t + gamma * V_{t+1} - V_t

    The values enter as (V_{t+1} - V_t) - (1 - gamma) * V_{t+1}: near gamma = 1 the
    first difference is small, while gamma itself rounds to float32.

    Args:
        token_level_rewards: Never read outside the mask, like ``values``.
        values: V before each token.
        response_mask: True where the token counts; gaps allowed.
        bootstrap_values: V after each row's last token; 0 when None.
        gamma: Discount within a residual.
        discount: Discount between residuals.
        terms: How many residuals each sum holds; all of them when left out.

    Returns:
        The sums, 0 outside the mask, without gradient.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> discounted_residuals(*three_tokens(), None, gamma=1.0, discount=0.5)
        tensor([[0.3000, 0.4000, 0.4000]], dtype=torch.float64)
    """
    ranks = token_ranks(response_mask)
    rewards = pack(at_least_float32(token_level_rewards), response_mask, ranks)
    before = pack(at_least_float32(values), response_mask, ranks)
    after = pad(before, (0, 1))[:, 1:]
    if bootstrap_values is not None:
        last = (response_mask.sum(1, keepdim=True) - 1).clamp(min=0)
        after = after.scatter(1, last, bootstrap_values[:, None].to(after.dtype))
    residuals = rewards + ((after - before) - (1 - gamma) * after)
    sums = discounted_suffix_sum(residuals, discount, terms)
    return unpack(sums, response_mask, ranks)
