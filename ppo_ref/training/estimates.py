"""From rewards and values to advantages, right and wrong on purpose, by name."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import torch
from torch.nn.functional import pad

from ppo_ref.advantages import gae
from ppo_ref.batch import AdvantageEstimate
from ppo_ref.contracts.shapes import TokenMask, Tokens, checked
from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from ppo_ref.masking import masked_whiten

# To advantages and returns, from as many as it names of token_level_rewards, values,
# response_mask, gamma, gae_lambda and groups (to which prompt each row belongs).
Estimate = Annotated[
    Callable[..., AdvantageEstimate],
    "a function such as whitened_gae",
]


def named_inputs(estimate: Estimate, **inputs: Any) -> dict[str, Any]:
    """What an estimate is to be given: no more than its parameters name.

    Args:
        estimate: Any; one that takes ``**inputs`` is given what ``whitened_gae`` is.
        inputs: All there is, by name.

    Returns:
        Those that it names.

    Example:
        >>> list(named_inputs(lambda gamma: None, gamma=1, groups=None))
        ['gamma']
    """
    parameters = inspect.signature(estimate).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        parameters = inspect.signature(whitened_gae).parameters
    return {name: x for name, x in inputs.items() if name in parameters}


def require_groups(
    function: str, estimate: Estimate, responses_per_prompt: int
) -> None:
    """Refuse an estimate that compares responses where each prompt has only one.

    Args:
        function: What refuses.
        estimate: Any; one that names ``groups`` compares.
        responses_per_prompt: How many each prompt has.

    Raises:
        ValueError: if there is nothing to compare.

    Example:
        >>> from ppo_ref.group_advantages import grpo
        >>> require_groups("train", grpo, 1)
        Traceback (most recent call last):
        ValueError: train: responses_per_prompt must be at least 2, as grpo compares \
the responses to one prompt, got 1
    """
    if responses_per_prompt < 2 and "groups" in named_inputs(estimate, groups=None):
        name = getattr(estimate, "__name__", type(estimate).__name__)
        raise ValueError(
            f"{function}: responses_per_prompt must be at least 2, as {name} compares "
            f"the responses to one prompt, got {responses_per_prompt}"
        )


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


# Wrong on purpose, to see what each does to a run.
BROKEN: dict[str, Estimate] = {
    "flipped_sign": flipped_sign,
    "shifted_values": shifted_values,
    "whitened_over_padding": whitened_over_padding,
}
ESTIMATES: dict[str, Estimate] = {
    "whitened_gae": whitened_gae,
    "reinforce_plus_plus": reinforce_plus_plus,
    "grpo": grpo,
    "dr_grpo": dr_grpo,
    "rloo": rloo,
    "reinforce_plus_plus_baseline": reinforce_plus_plus_baseline,
    **BROKEN,
}
