"""Estimates of the advantage: from rewards and values to what the actor takes."""

from collections.abc import Callable
from typing import Annotated, Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from ppo_ref import group_advantages
from ppo_ref.advantages import gae
from ppo_ref.batch import AdvantageEstimate
from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus_baseline,
    rloo,
)
from ppo_ref.masking import masked_whiten
from ppo_ref.require import TokenMask, Tokens

# From token_level_rewards, values, response_mask, gamma and gae_lambda, all by keyword.
Estimate = Annotated[
    Callable[..., AdvantageEstimate], "a function such as whitened_gae"
]


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


def flipped_sign(**inputs: Any) -> AdvantageEstimate:
    """Wrong: the actor is told to do less of what went better than expected."""
    estimate = whitened_gae(**inputs)
    return estimate._replace(advantages=-estimate.advantages)


def shifted_values(
    *, values: Tensor, response_mask: Tensor, **others: Any
) -> AdvantageEstimate:
    """Wrong: each token is judged by the value of the next one, the last token by 0."""
    next_values = pad(torch.where(response_mask, values, 0)[:, 1:], (0, 1))
    return whitened_gae(values=next_values, response_mask=response_mask, **others)


def whitened_over_padding(
    *, values: Tensor, response_mask: Tensor, **others: Any
) -> AdvantageEstimate:
    """Wrong: mean and variance are taken over padding too, where 0 - V stands."""
    advantages, returns = gae(values=values, response_mask=response_mask, **others)
    everywhere = torch.ones_like(response_mask)
    whitened = masked_whiten(
        torch.where(response_mask, advantages, -values.detach()), everywhere
    )
    return AdvantageEstimate(torch.where(response_mask, whitened, 0), returns)


def reinforce_plus_plus(
    *, token_level_rewards: Tensor, response_mask: Tensor, gamma: float, **_: Any
) -> AdvantageEstimate:
    """Whitened returns, as of ``group_advantages``: neither values nor lambda count."""
    return group_advantages.reinforce_plus_plus(
        token_level_rewards=token_level_rewards,
        response_mask=response_mask,
        gamma=gamma,
    )


def among_responses(
    compare: Callable[..., AdvantageEstimate], responses_per_prompt: int
) -> Estimate:
    """An estimate by a function such as ``grpo``, which compares rows of one prompt.

    Rows of one group follow each other, ``responses_per_prompt`` of them; fewer than 2
    are a ValueError. The estimate reads neither values nor gamma nor lambda.
    """
    if responses_per_prompt < 2:
        raise ValueError(
            "among_responses: responses_per_prompt must be at least 2, as "
            f"{compare.__name__} compares the responses to one prompt, got "
            f"{responses_per_prompt}"
        )

    def estimate(
        *, token_level_rewards: Tensor, response_mask: Tensor, **_: Any
    ) -> AdvantageEstimate:
        rows = torch.arange(len(response_mask), device=response_mask.device)
        return compare(
            token_level_rewards=token_level_rewards,
            response_mask=response_mask,
            groups=rows // responses_per_prompt,
        )

    return estimate


COMPARING = grpo, dr_grpo, rloo, reinforce_plus_plus_baseline
# Wrong on purpose, to see what each does to a run.
BROKEN = flipped_sign, shifted_values, whitened_over_padding
# The functions of this module that a run's settings may name.
NAMES = tuple(
    function.__name__
    for function in (whitened_gae, reinforce_plus_plus, *COMPARING, *BROKEN)
)


def estimate_named(name: str, responses_per_prompt: int = 1) -> Estimate:
    """The estimate of that name, for a run with this number of responses a prompt."""
    if name not in NAMES:
        raise ValueError(
            f"estimate_named: name must be one of {', '.join(NAMES)}, got {name!r}"
        )
    function: Estimate = globals()[name]
    if function in COMPARING:
        return among_responses(function, responses_per_prompt)
    return function
