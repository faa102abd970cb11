"""Advantages as the actor uses them: estimated, then whitened over the batch."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from ppo_ref.advantages import gae
from ppo_ref.batch import AdvantageEstimate
from ppo_ref.masking import masked_whiten
from ppo_ref.shapes import TokenMask, Tokens, checked

# To advantages and returns, from as many as it names of token_level_rewards, values,
# response_mask, gamma, gae_lambda and groups (to which prompt each row belongs).
Estimate = Annotated[
    Callable[..., AdvantageEstimate],
    "a function such as ppo_ref.estimate.whitened_gae",
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
