"""From one loss per token to the one number that is minimised."""

from collections.abc import Callable

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32
from ppo_ref.require import Scalar, TokenMask, Tokens, require_batch, require_finite

# From one number per token and the mask to one number: token_mean is one.
Aggregate = Callable[[Tensor, Tensor], Tensor]


def token_mean(losses: Tokens, response_mask: TokenMask) -> Scalar:
    """Mean over tokens: every token weighs the same, so long responses weigh more.

    Args:
        losses: One loss per token; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        The sum over the tokens of all rows by their number; gradient flows.

    Raises:
        ValueError: if no token counts, or a loss that counts is not finite.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss, "token-mean".

    Example:
        >>> mask = torch.tensor([[True, True, True], [True, False, False]])
        >>> token_mean(torch.tensor([[1., 1., 1.], [5., 9., 9.]]), mask)
        tensor(2.)
    """
    require_batch("token_mean", response_mask, losses=losses)
    return _row_sums(losses, response_mask).sum() / response_mask.sum()


def token_sum(losses: Tokens, response_mask: TokenMask) -> Scalar:
    """Sum over tokens: the size of the batch sets the size of the gradient.

    Args:
        losses: One loss per token; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        The sum over the tokens of all rows, 0 if no token counts; gradient flows.

    Raises:
        ValueError: if a loss that counts is not finite.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss, "token-sum".

    Example:
        >>> mask = torch.tensor([[True, True, True], [True, False, False]])
        >>> token_sum(torch.tensor([[1., 1., 1.], [5., 9., 9.]]), mask)
        tensor(8.)
    """
    require_finite("token_sum", response_mask, losses=losses)
    return _row_sums(losses, response_mask).sum()


def sequence_mean_token_mean(losses: Tokens, response_mask: TokenMask) -> Scalar:
    """Mean of the rows' means: every response weighs the same, whatever its length.

    Args:
        losses: One loss per token; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        The mean over the rows that have a token; a row without one is left out.
        Gradient flows.

    Raises:
        ValueError: if no token counts, or a loss that counts is not finite.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss, "seq-mean-token-mean".

    Example:
        >>> mask = torch.tensor([[True, True, True], [True, False, False]])
        >>> sequence_mean_token_mean(torch.tensor([[1., 1., 1.], [5., 9., 9.]]), mask)
        tensor(3.)
    """
    require_batch("sequence_mean_token_mean", response_mask, losses=losses)
    lengths = response_mask.sum(1)
    row_means = _row_sums(losses, response_mask) / lengths.clamp(min=1)
    return row_means.sum() / (lengths > 0).sum()


def sequence_mean_token_sum(losses: Tokens, response_mask: TokenMask) -> Scalar:
    """Mean of the rows' sums: every token weighs the same, by the number of responses.

    Args:
        losses: One loss per token; never read outside the mask.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        The mean over the rows that have a token; a row without one is left out.
        Gradient flows.

    Raises:
        ValueError: if no token counts, or a loss that counts is not finite.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss, "seq-mean-token-sum".

    Example:
        >>> mask = torch.tensor([[True, True, True], [True, False, False]])
        >>> sequence_mean_token_sum(torch.tensor([[1., 1., 1.], [5., 9., 9.]]), mask)
        tensor(4.)
    """
    require_batch("sequence_mean_token_sum", response_mask, losses=losses)
    return _row_sums(losses, response_mask).sum() / response_mask.any(1).sum()


def _row_sums(losses: Tensor, response_mask: Tensor) -> Tensor:
    return torch.where(response_mask, at_least_float32(losses), 0).sum(1)
