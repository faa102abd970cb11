"""How much better a whole response went than others to the same prompt: no critic."""

import torch
from torch import Tensor

from ppo_ref.batch import AdvantageEstimate
from ppo_ref.grouping import grouped
from ppo_ref.packing import discounted_residuals
from ppo_ref.ranges import require_above
from ppo_ref.shapes import RowIds, TokenMask, Tokens, checked


@checked
def grpo(
    *,
    token_level_rewards: Tokens,
    response_mask: TokenMask,
    groups: RowIds,
    epsilon: float = 1e-6,
) -> AdvantageEstimate:
    """Each response's score among those of its group, in standard deviations.

        A_i = (s_i - mean(s)) / (std(s) + epsilon)

    Args:
        token_level_rewards: Reward received after emitting token t, in reward units;
            a response's score is their sum.
        response_mask: True where the token counts; gaps allowed.
        groups: Which prompt each row answers, as any integers.
        epsilon: Added to the standard deviation, in reward units.

    Returns:
        Advantages without unit, the same on every token of a response, exactly 0
        where all scores of a group are equal; and what was received from each token
        on, as in ``monte_carlo_returns``. Both 0 outside the mask, without gradient.

    Raises:
        ValueError: if a group is of one row, a row has no token, a reward is not
            finite where it counts, or ``epsilon`` is not above 0.

    Source:
        Shao et al. (2024), arXiv:2402.03300, section 4.1.2; verl v0.9.1,
        verl/trainer/ppo/core_algos.py, compute_grpo_outcome_advantage.

    Example:
        >>> grpo(
        ...     token_level_rewards=torch.tensor([[0., 1.], [0., 0.], [0., 0.]]),
        ...     response_mask=torch.tensor([[True, True]] * 3),
        ...     groups=torch.tensor([7, 7, 7]),
        ... ).advantages
        tensor([[ 1.1547,  1.1547],
                [-0.5773, -0.5773],
                [-0.5773, -0.5773]])
    """
    require_above("grpo", 0, epsilon=epsilon)
    found = grouped("grpo", token_level_rewards, response_mask, groups)
    of_rows = found.excess / (found.variance.sqrt() + epsilon)
    return _estimate(of_rows, token_level_rewards, response_mask)


@checked
def dr_grpo(
    *, token_level_rewards: Tokens, response_mask: TokenMask, groups: RowIds
) -> AdvantageEstimate:
    """GRPO done right: without the division, which lifts nearly settled prompts most.

        A_i = s_i - mean(s)

    Args:
        token_level_rewards: As in ``grpo``.
        response_mask: As in ``grpo``.
        groups: As in ``grpo``.

    Returns:
        As ``grpo``, the advantages in reward units.

    Raises:
        ValueError: as in ``grpo``.

    Source:
        Liu et al. (2025), arXiv:2503.20783; verl v0.9.1 with
        ``norm_adv_by_std_in_grpo=False``.

    Example:
        >>> dr_grpo(
        ...     token_level_rewards=torch.tensor([[1.], [0.]]),
        ...     response_mask=torch.tensor([[True], [True]]),
        ...     groups=torch.tensor([0, 0]),
        ... ).advantages
        tensor([[ 0.5000],
                [-0.5000]])
    """
    found = grouped("dr_grpo", token_level_rewards, response_mask, groups)
    return _estimate(found.excess, token_level_rewards, response_mask)


@checked
def rloo(
    *, token_level_rewards: Tokens, response_mask: TokenMask, groups: RowIds
) -> AdvantageEstimate:
    """REINFORCE whose baseline is the mean of the others: it leaves one out.

        A_i = s_i - mean(s_j for j != i) = n / (n - 1) * (s_i - mean(s))

    Args:
        token_level_rewards: As in ``grpo``.
        response_mask: As in ``grpo``.
        groups: As in ``grpo``.

    Returns:
        As ``grpo``, the advantages in reward units.

    Raises:
        ValueError: as in ``grpo``.

    Source:
        Ahmadian et al. (2024), arXiv:2402.14740, section 2.2; verl v0.9.1,
        verl/trainer/ppo/core_algos.py, compute_rloo_outcome_advantage.

    Example:
        >>> rloo(
        ...     token_level_rewards=torch.tensor([[1.], [0.]]),
        ...     response_mask=torch.tensor([[True], [True]]),
        ...     groups=torch.tensor([0, 0]),
        ... ).advantages
        tensor([[ 1.],
                [-1.]])
    """
    excess, _, rows = grouped("rloo", token_level_rewards, response_mask, groups)
    of_rows = excess * rows / (rows - 1)
    return _estimate(of_rows, token_level_rewards, response_mask)


def _estimate(
    of_rows: Tensor, token_level_rewards: Tensor, response_mask: Tensor
) -> AdvantageEstimate:
    values = torch.zeros_like(token_level_rewards)
    rewarded = token_level_rewards, values, response_mask, None
    return AdvantageEstimate(
        torch.where(response_mask, of_rows[:, None], 0),
        discounted_residuals(*rewarded, gamma=1.0, discount=1.0),
    )
