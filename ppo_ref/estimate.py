"""Advantages as the actor uses them: estimated, then whitened over the batch."""

from collections.abc import Callable

from ppo_ref.advantages import AdvantageEstimate, gae
from ppo_ref.masking import masked_whiten
from ppo_ref.shapes import TokenMask, Tokens

# From rewards, values, mask, gamma and lambda, by name, to advantages and returns.
Estimate = Callable[..., AdvantageEstimate]


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
        reward units.
    """
    raw = gae(
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=response_mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    return AdvantageEstimate(masked_whiten(raw.advantages, response_mask), raw.returns)
