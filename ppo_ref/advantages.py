"""How much better each token went than the critic expected."""

import torch
from torch import Tensor

from ppo_ref.batch import AdvantageEstimate
from ppo_ref.kernels.scan import discounted_residuals
from ppo_ref.require import (
    RowValues,
    TokenMask,
    Tokens,
    refuse_infinite,
    require_shapes,
    require_unit_interval,
    sums_up,
)


def gae(
    *,
    token_level_rewards: Tokens,
    values: Tokens,
    response_mask: TokenMask,
    gamma: float = 1.0,
    gae_lambda: float = 1.0,
    bootstrap_values: RowValues | None = None,
) -> AdvantageEstimate:
    """Generalized advantage estimation.

        delta_t = r_t + gamma * V_{t+1} - V_t
        A_t = delta_t + gamma * gae_lambda * A_{t+1}
        R_t = A_t + V_t

    Args:
        token_level_rewards: Reward received after emitting token t, in reward units.
        values: Expected return before emitting token t, in reward units.
        response_mask: True where the token counts; t+1 is the next token that does.
        gamma: Discount per token, in [0, 1].
        gae_lambda: 0 bootstraps fully from the next value, 1 not at all.
        bootstrap_values: V after each row's last token, in reward units: the critic's
            where the response was cut off, 0 where it ended. All 0 when left out.

    Returns:
        Advantages, not whitened, and the returns the critic should predict; both 0
        outside the mask and in a row without a token, both without gradient.

    Raises:
        ValueError: if ``gamma`` or ``gae_lambda`` is outside [0, 1], or an input is
            not finite where it counts.

    Source:
        Schulman et al. (2016), arXiv:1506.02438v6, equation 16.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> gae(**three_tokens()._asdict(), gae_lambda=0.95).advantages
        tensor([[0.6510, 0.5800, 0.4000]], dtype=torch.float64)
    """
    require_unit_interval("gae", gae_lambda=gae_lambda)
    advantages = _discounted_residuals(
        "gae",
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=response_mask,
        bootstrap_values=bootstrap_values,
        gamma=gamma,
        discount=gamma * gae_lambda,
    )
    returns = (advantages + values.detach()).masked_fill_(~response_mask, 0)
    return AdvantageEstimate(advantages, returns)


def td_residuals(
    *,
    token_level_rewards: Tokens,
    values: Tokens,
    response_mask: TokenMask,
    gamma: float = 1.0,
    bootstrap_values: RowValues | None = None,
) -> Tokens:
    """The change that one token made in the expected return: ``gae`` at lambda 0.

        delta_t = r_t + gamma * V_{t+1} - V_t

    Args:
        token_level_rewards: As in ``gae``.
        values: As in ``gae``.
        response_mask: As in ``gae``.
        gamma: Discount per token, in [0, 1].
        bootstrap_values: As in ``gae``.

    Returns:
        Reward units, not whitened, 0 outside the mask, without gradient.

    Raises:
        ValueError: if ``gamma`` is outside [0, 1], or an input is not finite where it
            counts.

    Source:
        Schulman et al. (2016), arXiv:1506.02438v6, section 3.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> td_residuals(**three_tokens()._asdict())
        tensor([[0.1000, 0.2000, 0.4000]], dtype=torch.float64)
    """
    return _discounted_residuals(
        "td_residuals",
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=response_mask,
        bootstrap_values=bootstrap_values,
        gamma=gamma,
        discount=0.0,
    )


def monte_carlo_returns(
    *,
    token_level_rewards: Tokens,
    response_mask: TokenMask,
    gamma: float = 1.0,
    bootstrap_values: RowValues | None = None,
) -> Tokens:
    """The sum of what was received from each token on, without asking the critic.

        G_t = r_t + gamma * G_{t+1}

    Args:
        token_level_rewards: As in ``gae``.
        response_mask: As in ``gae``.
        gamma: Discount per token, in [0, 1].
        bootstrap_values: As in ``gae``; G after the last token.

    Returns:
        Reward units, not whitened, 0 outside the mask, without gradient.

    Raises:
        ValueError: as in ``gae``.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> rewards, _, mask = three_tokens()
        >>> monte_carlo_returns(
        ...     token_level_rewards=rewards, response_mask=mask, gamma=0.5
        ... )
        tensor([[0.2500, 0.5000, 1.0000]], dtype=torch.float64)
    """
    return _discounted_residuals(
        "monte_carlo_returns",
        token_level_rewards=token_level_rewards,
        values=torch.zeros_like(token_level_rewards),
        response_mask=response_mask,
        bootstrap_values=bootstrap_values,
        gamma=gamma,
        discount=gamma,
    )


def _discounted_residuals(
    function: str,
    *,
    token_level_rewards: Tensor,
    values: Tensor,
    response_mask: Tensor,
    bootstrap_values: Tensor | None,
    gamma: float,
    discount: float,
) -> Tensor:
    """The kernel behind its checks."""
    require_unit_interval(function, gamma=gamma)
    require_shapes(
        function,
        token_level_rewards=(token_level_rewards, "float batch time"),
        values=(values, "float batch time"),
        response_mask=(response_mask, "bool batch time"),
        bootstrap_values=(bootstrap_values, "float batch"),
    )
    sums = discounted_residuals(
        token_level_rewards,
        values,
        response_mask,
        bootstrap_values,
        gamma,
        discount,
    )
    # What is not finite and counts makes a sum so: one look instead of three.
    if not sums_up(sums):
        refuse_infinite(
            function,
            response_mask,
            token_level_rewards=token_level_rewards,
            values=values,
            bootstrap_values=bootstrap_values,
        )
    return sums
