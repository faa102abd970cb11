"""REINFORCE++: no critic, one baseline and one scale for the whole batch."""

import torch
from torch import Tensor

from ppo_ref.batch import AdvantageEstimate
from ppo_ref.checks import require_finite
from ppo_ref.grouping import grouped
from ppo_ref.masking import masked_whiten
from ppo_ref.packing import discounted_residuals
from ppo_ref.ranges import require_unit_interval
from ppo_ref.shapes import RowIds, TokenMask, Tokens, checked


@checked
def reinforce_plus_plus(
    *, token_level_rewards: Tokens, response_mask: TokenMask, gamma: float = 1.0
) -> AdvantageEstimate:
    """What was received from each token on, whitened over the batch.

        A_t = (G_t - mean(G)) / std(G)

    Args:
        token_level_rewards: Reward received after emitting token t, in reward units.
        response_mask: True where the token counts; gaps allowed.
        gamma: Discount per token, in [0, 1].

    Returns:
        Advantages without unit, mean 0 and variance 1 over the mask, and G as
        returns, in reward units: ``whitened_gae`` at lambda 1 of a critic that says 0.
        Both 0 outside the mask, without gradient.

    Raises:
        ValueError: if ``gamma`` is outside [0, 1], a reward is not finite where it
            counts, or fewer than two tokens count.

    Source:
        Hu (2025), arXiv:2501.03262; verl v0.9.1, verl/trainer/ppo/core_algos.py,
        compute_reinforce_plus_plus_outcome_advantage.

    Example:
        >>> reinforce_plus_plus(
        ...     token_level_rewards=torch.tensor([[0., 1.], [0., 0.]]),
        ...     response_mask=torch.tensor([[True, True], [True, True]]),
        ... ).advantages
        tensor([[ 0.8660,  0.8660],
                [-0.8660, -0.8660]])
    """
    name = "reinforce_plus_plus"
    require_unit_interval(name, gamma=gamma)
    require_finite(name, response_mask, token_level_rewards=token_level_rewards)
    returns = _returns(token_level_rewards, response_mask, gamma)
    return AdvantageEstimate(masked_whiten(returns, response_mask), returns)


@checked
def reinforce_plus_plus_baseline(
    *, token_level_rewards: Tokens, response_mask: TokenMask, groups: RowIds
) -> AdvantageEstimate:
    """Scores less their group's mean, as in ``dr_grpo``, whitened over the batch.

    Args:
        token_level_rewards: As in ``grpo``.
        response_mask: As in ``grpo``.
        groups: As in ``grpo``.

    Returns:
        Advantages without unit, the same on every token of a response, mean 0 and
        variance 1 over the mask; returns as in ``grpo``.

    Raises:
        ValueError: as in ``grpo``.

    Source:
        Hu (2025), arXiv:2501.03262; verl v0.9.1, verl/trainer/ppo/core_algos.py,
        compute_reinforce_plus_plus_baseline_outcome_advantage.

    Example:
        >>> reinforce_plus_plus_baseline(
        ...     token_level_rewards=torch.tensor([[1.], [0.]]),
        ...     response_mask=torch.tensor([[True], [True]]),
        ...     groups=torch.tensor([0, 0]),
        ... ).advantages
        tensor([[ 0.7071],
                [-0.7071]])
    """
    name = "reinforce_plus_plus_baseline"
    found = grouped(name, token_level_rewards, response_mask, groups)
    of_tokens = found.excess[:, None].expand_as(response_mask)
    return AdvantageEstimate(
        masked_whiten(of_tokens, response_mask),
        _returns(token_level_rewards, response_mask, gamma=1.0),
    )


def _returns(rewards: Tensor, response_mask: Tensor, gamma: float) -> Tensor:
    values = torch.zeros_like(rewards)
    given = rewards, values, response_mask, None
    return discounted_residuals(*given, gamma, discount=gamma)
