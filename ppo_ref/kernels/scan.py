"""Gaps out of the mask, discounted sums over what follows, gaps back in.

Every function keeps its shapes. Compiled or on a GPU none asks anything of the data, so
that torch.compile runs through it and a GPU does not wait. A CPU may ask: whether a
mask has gaps costs it far less than moving tokens that lie together already.
"""

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref.precision import at_least_float32

# A weight below it changes no sum that can be told apart, in float64 neither.
NEGLIGIBLE = 1e-30
CHUNK = 16  # slots whose sums are one product with a triangle of weights
ONE_TRIANGLE = 128  # slots up to which a row needs no chunks


def discounted_suffix_sum(x: Tensor, discount: float) -> Tensor:
    """Sum what follows, each step ahead discounted once more.

        y_j = x_j + discount * x_{j+1} + discount**2 * x_{j+2} + ...

    A long row on a CPU goes by triangles of weights. Otherwise each sum holds twice as
    many terms at every step. The weights stay Python floats; rounded to float32 and
    compounded over 16384 tokens they would be wrong in the fifth digit.

    Example:
        >>> discounted_suffix_sum(torch.tensor([[4., 2., 8.]]), 0.5)
        tensor([[7., 6., 8.]])
    """
    if _use_triangles(x, discount):
        return _by_triangles(x, discount)
    # Memory that is new at every step costs more than the sums.
    free, next_free = torch.empty_like(x), torch.empty_like(x)
    total, held = x, 1
    while held < x.shape[-1] and discount**held >= NEGLIGIBLE:
        doubled = free.copy_(total)
        doubled[..., :-held].add_(total[..., held:], alpha=discount**held)
        total, held = doubled, 2 * held
        free, next_free = next_free, free
    return total


def _use_triangles(x: Tensor, discount: float) -> bool:
    """Say if a row is worth a matrix product, and this is as exact as float32 is."""
    worth = x.shape[-1] > 2 * CHUNK and discount >= NEGLIGIBLE and _is_eager_cpu(x)
    return worth and torch.get_float32_matmul_precision() == "highest"


def _is_eager_cpu(x: Tensor) -> bool:
    """Say if asking what is in a tensor costs nothing."""
    return x.device.type == "cpu" and not torch.compiler.is_compiling()


def _by_triangles(x: Tensor, discount: float) -> Tensor:
    """All sums: those within each chunk, and what the later chunks sum to.

    That is such a sum itself, of one term a chunk.
    """
    *rows, length = x.shape
    if length <= ONE_TRIANGLE:
        return x @ _triangle(discount, length, x.dtype)
    missing = -length % CHUNK
    chunks = (pad(x, (0, missing)) if missing else x).view(*rows, -1, CHUNK)
    weights = _triangle(discount, CHUNK, x.dtype)
    total: Tensor = chunks @ weights
    sums = _by_triangles(total[..., 0].contiguous(), discount**CHUNK)
    total[..., :-1, :].addcmul_(sums[..., 1:, None], discount * weights[-1])
    return total.view(*rows, -1)[..., :length]


@lru_cache(maxsize=8)
def _triangle(discount: float, size: int, dtype: torch.dtype) -> Tensor:
    """``discount**(j - i)`` at [j, i], and 0 where j is before i."""
    slots = torch.arange(size)
    ahead = slots[:, None] - slots
    powers = torch.tensor(discount, dtype=torch.float64) ** ahead.clamp(min=0)
    return powers.tril().to(dtype)


# Rows are independent. A CPU works through them in blocks of about so many slots, whose
# arrays stay in its cache: 1024 rows of 8192 in half the time.
BLOCK = 1 << 18


def has_gaps(response_mask: Tensor) -> bool:
    """Say if a token counts behind a slot that does not."""
    begins = response_mask[..., 1:] > response_mask[..., :-1]
    # Of bytes: any() takes fourteen times as long, count_nonzero() six.
    return begins.numel() > 0 and bool(begins.view(torch.uint8).amax())


def zero_outside(response_mask: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Zeros for what does not count, whatever it is: where() in a fifth of its time."""
    bits = torch.int32 if tensors[0].dtype == torch.float32 else torch.int64
    counts = response_mask.to(bits).neg_()
    return tuple((x.view(bits) & counts).view(x.dtype) for x in tensors)


def token_places(response_mask: Tensor) -> Tensor:
    """The place of each token in its packed row, counted from 1."""
    counts = response_mask.long()
    return counts.cumsum(-1).bitwise_and_(-counts)  # a product takes longer


def pack(x: Tensor, places: Tensor) -> Tensor:
    """Move the tokens that count to the front of their row, zeros behind them.

    Example:
        >>> mask = torch.tensor([[True, False, True, True]])
        >>> pack(torch.tensor([[1., 9., 2., 3.]]), token_places(mask))
        tensor([[1., 2., 3., 0.]])
    """
    *rows, length = x.shape
    # What does not count all goes to place 0, and that is cut off.
    return x.new_zeros(*rows, length + 1).scatter_(-1, places, x)[..., 1:]


def unpack(packed: Tensor, places: Tensor) -> Tensor:
    """Move packed tokens back to their slots."""
    return pad(packed, (1, 0)).gather(-1, places)


@torch.no_grad()
def discounted_residuals(
    token_level_rewards: Tensor,
    values: Tensor,
    response_mask: Tensor,
    bootstrap_values: Tensor | None,
    gamma: float,
    discount: float,
) -> Tensor:
    """Discounted sums of TD residuals over the tokens that count, 0 elsewhere.

        delta_t = r_t + gamma * V_{t+1} - V_t

    The values enter as (V_{t+1} - V_t) - (1 - gamma) * V_{t+1}: near gamma = 1 the
    first difference is small, while gamma itself rounds to float32. ``discount`` is
    that between residuals. V after each row's last token is ``bootstrap_values``, 0
    when None.
    """
    rows = max(1, BLOCK // max(1, values.shape[1]))
    if rows >= len(values) or not _is_eager_cpu(values):
        return _sums(
            token_level_rewards,
            values,
            response_mask,
            bootstrap_values,
            gamma,
            discount,
        )
    total = torch.empty_like(at_least_float32(values))
    for start in range(0, len(values), rows):
        at = slice(start, start + rows)
        total[at] = _sums(
            token_level_rewards[at],
            values[at],
            response_mask[at],
            None if bootstrap_values is None else bootstrap_values[at],
            gamma,
            discount,
        )
    return total


def _sums(
    token_level_rewards: Tensor,
    values: Tensor,
    response_mask: Tensor,
    bootstrap_values: Tensor | None,
    gamma: float,
    discount: float,
) -> Tensor:
    rewards, values = map(at_least_float32, (token_level_rewards, values))
    move = not _is_eager_cpu(values) or has_gaps(response_mask)
    places = token_places(response_mask) if move else None
    if places is not None:
        rewards, values = pack(rewards, places), pack(values, places)
    else:
        rewards, values = zero_outside(response_mask, rewards, values)
    residuals = -values
    residuals[:, :-1] += values[:, 1:]
    if gamma != 1:
        residuals[:, :-1] -= (1 - gamma) * values[:, 1:]
    if bootstrap_values is not None:
        counts = response_mask.sum(1, keepdim=True)
        ends = bootstrap_values[:, None].to(values.dtype).where(counts > 0, 0)
        for part in (ends, (gamma - 1) * ends):
            residuals.scatter_add_(1, (counts - 1).clamp(min=0), part)
    residuals += rewards
    sums = discounted_suffix_sum(residuals, discount)
    return sums if places is None else unpack(sums, places)
