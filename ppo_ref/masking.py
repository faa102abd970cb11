"""Sums, means, variances and whitening over the tokens that count."""

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    Scalar,
    TokenMask,
    Tokens,
    require_batch,
    require_finite,
    require_tokens,
)

# The variance of equal numbers is 0; verl 0.9.1 keeps the division finite by this.
WHITEN_EPSILON = 1e-8


def masked_sum(x: Tokens, response_mask: TokenMask) -> Scalar:
    """Sum over the tokens that count.

    Args:
        x: One number per token, in any unit; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        The sum over all rows, 0 if no token counts; gradient flows.

    Raises:
        ValueError: if ``x`` is not finite on a token that counts.

    Example:
        >>> x = torch.tensor([[1., 2., torch.nan]])
        >>> masked_sum(x, torch.tensor([[True, True, False]]))
        tensor(3.)
    """
    require_finite("masked_sum", response_mask, x=x)
    return _sum(x, response_mask)


def masked_mean(x: Tokens, response_mask: TokenMask) -> Scalar:
    """Mean over the tokens that count, each with the same weight.

    Args:
        x: One number per token, in any unit; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        The mean over the tokens of all rows; gradient flows.

    Raises:
        ValueError: if no token counts, or ``x`` is not finite on one that does.

    Example:
        >>> x = torch.tensor([[1., 2., 9.]])
        >>> masked_mean(x, torch.tensor([[True, True, False]]))
        tensor(1.5000)
    """
    require_batch("masked_mean", response_mask, x=x)
    return _sum(x, response_mask) / response_mask.sum()


def masked_variance(x: Tokens, response_mask: TokenMask) -> Scalar:
    """Sample variance over the tokens that count, divided by their number less one.

    Args:
        x: One number per token, in any unit; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        The variance with Bessel's correction, in the unit of ``x`` squared;
        gradient flows.

    Raises:
        ValueError: if fewer than two tokens count, or ``x`` is not finite on one
            that does.

    Source:
        verl v0.9.1, verl/utils/torch_functional.py, masked_var.

    Example:
        >>> x = torch.tensor([[1., 3., 9.]])
        >>> masked_variance(x, torch.tensor([[True, True, False]]))
        tensor(2.)
    """
    require_tokens("masked_variance", response_mask, least=2)
    require_finite("masked_variance", response_mask, x=x)
    return _variance(_centered(x, response_mask), response_mask)


def masked_whiten(x: Tokens, response_mask: TokenMask) -> Tokens:
    """Shift and scale to mean 0 and variance 1 over the tokens that count.

    Args:
        x: One number per token, in any unit; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        Whitened numbers without unit, 0 outside the mask; gradient flows. Equal
        numbers become 0.

    Raises:
        ValueError: if fewer than two tokens count, or ``x`` is not finite on one
            that does.

    Source:
        verl v0.9.1, verl/utils/torch_functional.py, masked_whiten.

    Example:
        >>> x = torch.tensor([[1., 2., 3., 9.]])
        >>> masked_whiten(x, torch.tensor([[True, True, True, False]]))
        tensor([[-1.,  0.,  1.,  0.]])
    """
    require_tokens("masked_whiten", response_mask, least=2)
    require_finite("masked_whiten", response_mask, x=x)
    centered = _centered(x, response_mask)
    return centered * (_variance(centered, response_mask) + WHITEN_EPSILON).rsqrt()


def _sum(x: Tensor, response_mask: Tensor) -> Tensor:
    return torch.where(response_mask, at_least_float32(x), 0).sum()


def _centered(x: Tensor, response_mask: Tensor) -> Tensor:
    mean = _sum(x, response_mask) / response_mask.sum()
    return torch.where(response_mask, at_least_float32(x) - mean, 0)


def _variance(centered: Tensor, response_mask: Tensor) -> Tensor:
    return centered.square().sum() / (response_mask.sum() - 1)
