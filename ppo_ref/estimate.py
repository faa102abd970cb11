"""Advantages as the actor uses them: estimated, then whitened over the batch."""

from collections.abc import Callable
from typing import Annotated

from ppo_ref.advantages import AdvantageEstimate, gae
from ppo_ref.masking import masked_whiten
from ppo_ref.shapes import TokenMask, Tokens, checked

# From rewards, values, mask, gamma and lambda, by name, to advantages and returns.
Estimate = Annotated[
    Callable[..., AdvantageEstimate],
    "a function such as ppo_ref.estimate.whitened_gae",
]


@checked
def whitened_gae(
    *,
    token_level_rewards: Tokens,
    values: Tokens,
    response_mask: TokenMask,
    gamma: float,
    gae_lambda: float,
) -> AdvantageEstimate:
    """Raw returns for the critic, whitened advantages for the actor.

    Args:
        token_level_rewards: As in ``gae``.
        values: As in ``gae``.
        response_mask: As in ``gae``.
        gamma: As in ``gae``.
        gae_lambda: As in ``gae``.

    Returns:
        Advantages without unit, mean 0 and variance 1 over the mask; returns in
        reward units. Both 0 outside the mask and without gradient.

    Raises:
        ValueError: as in ``gae``, or if fewer than two tokens count.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, compute_gae_advantage_return.

    Example:
        >>> import torch
        >>> advantages, returns = whitened_gae(
        ...     token_level_rewards=torch.tensor([[0., 0., 1.]]),
        ...     values=torch.tensor([[0., 0.5, 0.5]]),
        ...     response_mask=torch.tensor([[True, True, True]]),
        ...     gamma=1,
        ...     gae_lambda=1,
        ... )
        >>> advantages
        tensor([[ 1.1547, -0.5774, -0.5774]])
        >>> returns
        tensor([[1., 1., 1.]])
    """
    raw = gae(
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=response_mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    return AdvantageEstimate(masked_whiten(raw.advantages, response_mask), raw.returns)
