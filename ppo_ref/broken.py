"""Estimates that are wrong on purpose, to see what each does to a run."""

import torch
from torch.nn.functional import pad

from ppo_ref.advantages import gae
from ppo_ref.batch import AdvantageEstimate
from ppo_ref.estimate import whitened_gae
from ppo_ref.masking import masked_whiten
from ppo_ref.shapes import TokenMask, Tokens, checked


@checked
def flipped_sign(
    *,
    token_level_rewards: Tokens,
    values: Tokens,
    response_mask: TokenMask,
    gamma: float,
    gae_lambda: float,
) -> AdvantageEstimate:
    """The actor is told to do less of what went better than expected.

    Args:
        token_level_rewards: As in ``gae``.
        values: As in ``gae``.
        response_mask: As in ``gae``.
        gamma: As in ``gae``.
        gae_lambda: As in ``gae``.

    Returns:
        As ``whitened_gae``, the advantages with the other sign.

    Raises:
        ValueError: as in ``whitened_gae``.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> wrong = flipped_sign(**three_tokens()._asdict(), gamma=1, gae_lambda=1)
        >>> right = whitened_gae(**three_tokens()._asdict(), gamma=1, gae_lambda=1)
        >>> torch.equal(wrong.advantages, -right.advantages)
        True
    """
    estimate = whitened_gae(
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=response_mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    return estimate._replace(advantages=-estimate.advantages)


@checked
def shifted_values(
    *,
    token_level_rewards: Tokens,
    values: Tokens,
    response_mask: TokenMask,
    gamma: float,
    gae_lambda: float,
) -> AdvantageEstimate:
    """Each token is judged by the value of the next one, the last token by 0.

    ``next_values`` stand where ``values`` belong: a token's own merit is taken out of
    its advantage, and the last token is praised for the whole score.

    Args:
        token_level_rewards: As in ``gae``.
        values: As in ``gae``, before they are shifted.
        response_mask: As in ``gae``.
        gamma: As in ``gae``.
        gae_lambda: As in ``gae``.

    Returns:
        As ``whitened_gae`` of the shifted values.

    Raises:
        ValueError: as in ``whitened_gae``.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> rewards, values, mask = three_tokens()
        >>> values
        tensor([[0.3000, 0.4000, 0.6000]], dtype=torch.float64)
        >>> shifted_values(
        ...     token_level_rewards=rewards,
        ...     values=values,
        ...     response_mask=mask,
        ...     gamma=1,
        ...     gae_lambda=0,
        ... ).returns  # right would be 0.4, 0.6 and 1
        tensor([[0.6000, 0.0000, 1.0000]], dtype=torch.float64)
    """
    return whitened_gae(
        token_level_rewards=token_level_rewards,
        values=pad(torch.where(response_mask, values, 0)[:, 1:], (0, 1)),
        response_mask=response_mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )


@checked
def whitened_over_padding(
    *,
    token_level_rewards: Tokens,
    values: Tokens,
    response_mask: TokenMask,
    gamma: float,
    gae_lambda: float,
) -> AdvantageEstimate:
    """Mean and variance are taken over padding too, where 0 - V stands.

    Args:
        token_level_rewards: As in ``gae``.
        values: As the critic put them out, in padding too.
        response_mask: As in ``gae``.
        gamma: As in ``gae``.
        gae_lambda: As in ``gae``.

    Returns:
        As ``whitened_gae``, but neither mean 0 nor variance 1 over the mask.

    Raises:
        ValueError: as in ``gae``, if there are fewer than two slots, or a value is not
            finite, in padding too.

    Example:
        >>> whitened_over_padding(
        ...     token_level_rewards=torch.tensor([[0., 1., 0., 0.]]),
        ...     values=torch.tensor([[0., 0., 3., 3.]]),
        ...     response_mask=torch.tensor([[True, True, False, False]]),
        ...     gamma=1,
        ...     gae_lambda=1,
        ... ).advantages  # right would be 0: both tokens went equally well
        tensor([[0.8660, 0.8660, 0.0000, 0.0000]])
    """
    advantages, returns = gae(
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=response_mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    everywhere = torch.ones_like(response_mask)
    whitened = masked_whiten(
        torch.where(response_mask, advantages, -values.detach()), everywhere
    )
    return AdvantageEstimate(torch.where(response_mask, whitened, 0), returns)
