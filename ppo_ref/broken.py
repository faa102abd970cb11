"""Estimates that are wrong on purpose, to see what each does to a run."""

from typing import Any

import torch
from torch.nn.functional import pad

from ppo_ref.advantages import AdvantageEstimate, gae
from ppo_ref.estimate import whitened_gae
from ppo_ref.masking import masked_whiten
from ppo_ref.shapes import TokenMask, Tokens


def flipped_sign(**inputs: Any) -> AdvantageEstimate:
    """The actor is told to do less of what went better than expected.

    Args:
        inputs: As in ``whitened_gae``.
    """
    estimate = whitened_gae(**inputs)
    return estimate._replace(advantages=-estimate.advantages)


def shifted_values(*, values: Tokens, **inputs: Any) -> AdvantageEstimate:
    """Each token is judged by a critic that has already read it.

    What a slice one position too late gives: V(s_{t+1}) stands where V(s_t) belongs,
    so a token's own merit is taken out of its advantage.

    Args:
        values: As in ``whitened_gae``, before they are shifted.
        inputs: As in ``whitened_gae``.
    """
    return whitened_gae(values=pad(values[:, 1:], (0, 1)), **inputs)


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
        token_level_rewards: As in ``whitened_gae``.
        values: As the critic put them out, in padding too.
        response_mask: As in ``whitened_gae``.
        gamma: As in ``whitened_gae``.
        gae_lambda: As in ``whitened_gae``.
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
        torch.where(response_mask, advantages, -values), everywhere
    )
    return AdvantageEstimate(torch.where(response_mask, whitened, 0), returns)
