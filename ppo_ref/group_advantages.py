"""How much better a whole response went than others to the same prompt: no critic."""

from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.batch import AdvantageEstimate
from ppo_ref.kernels.scan import discounted_residuals
from ppo_ref.masking import masked_whiten
from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    RowIds,
    TokenMask,
    Tokens,
    require_above,
    require_finite,
    require_row_tokens,
    require_shapes,
    require_unit_interval,
)


class _Grouped(NamedTuple):
    """By row: score minus the mean of its group, and the variance and size of that."""

    excess: Tensor
    variance: Tensor
    size: Tensor


def grpo(
    *,
    token_level_rewards: Tokens,
    response_mask: TokenMask,
    groups: RowIds,
    rollouts: RowIds | None = None,
    epsilon: float = 1e-6,
) -> AdvantageEstimate:
    """Each response's score among those of its group, in standard deviations.

        A_i = (s_i - mean(s)) / (std(s) + epsilon)

    Args:
        token_level_rewards: Reward received after emitting token t, in reward units;
            a response's score is their sum.
        response_mask: True where the token counts; gaps allowed.
        groups: Which prompt each row answers, as any integers.
        rollouts: Which rollout each row is a piece of, as any integers. The pieces
            have one score, the sum of their rewards, and count once in their group.
            Each row is a rollout when left out.
        epsilon: Added to the standard deviation, in reward units.

    Returns:
        Advantages without unit, the same on every token of a response, exactly 0
        where all scores of a group are equal; and what was received from each token
        on in its row, as in ``monte_carlo_returns``. Both 0 outside the mask, without
        gradient.

    Raises:
        ValueError: if a group is of one rollout, a rollout is in two groups, a row has
            no token, a reward is not finite where it counts, or ``epsilon`` is not
            above 0.

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
    scores = _grouped("grpo", token_level_rewards, response_mask, groups, rollouts)
    row_advantages = scores.excess / (scores.variance.sqrt() + epsilon)
    return _estimate(row_advantages, token_level_rewards, response_mask)


def dr_grpo(
    *,
    token_level_rewards: Tokens,
    response_mask: TokenMask,
    groups: RowIds,
    rollouts: RowIds | None = None,
) -> AdvantageEstimate:
    """GRPO done right: without the division, which lifts nearly settled prompts most.

        A_i = s_i - mean(s)

    Args:
        token_level_rewards: As in ``grpo``.
        response_mask: As in ``grpo``.
        groups: As in ``grpo``.
        rollouts: As in ``grpo``.

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
    scores = _grouped("dr_grpo", token_level_rewards, response_mask, groups, rollouts)
    return _estimate(scores.excess, token_level_rewards, response_mask)


def rloo(
    *,
    token_level_rewards: Tokens,
    response_mask: TokenMask,
    groups: RowIds,
    rollouts: RowIds | None = None,
) -> AdvantageEstimate:
    """REINFORCE whose baseline is the mean of the others: it leaves one out.

        A_i = s_i - mean(s_j for j != i) = n / (n - 1) * (s_i - mean(s))

    Args:
        token_level_rewards: As in ``grpo``.
        response_mask: As in ``grpo``.
        groups: As in ``grpo``.
        rollouts: As in ``grpo``.

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
    scores = _grouped("rloo", token_level_rewards, response_mask, groups, rollouts)
    row_advantages = scores.excess * scores.size / (scores.size - 1)
    return _estimate(row_advantages, token_level_rewards, response_mask)


def _estimate(
    row_advantages: Tensor, token_level_rewards: Tensor, response_mask: Tensor
) -> AdvantageEstimate:
    advantages = torch.where(response_mask, row_advantages[:, None], 0)
    returns = _returns(token_level_rewards, response_mask, gamma=1.0)
    return AdvantageEstimate(advantages, returns)


def reinforce_plus_plus(
    *, token_level_rewards: Tokens, response_mask: TokenMask, gamma: float = 1.0
) -> AdvantageEstimate:
    """The return of each token, whitened over the batch.

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


def reinforce_plus_plus_baseline(
    *,
    token_level_rewards: Tokens,
    response_mask: TokenMask,
    groups: RowIds,
    rollouts: RowIds | None = None,
) -> AdvantageEstimate:
    """Scores less their group's mean, as in ``dr_grpo``, whitened over the batch.

    Args:
        token_level_rewards: As in ``grpo``.
        response_mask: As in ``grpo``.
        groups: As in ``grpo``.
        rollouts: As in ``grpo``.

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
    scores = _grouped(name, token_level_rewards, response_mask, groups, rollouts)
    token_advantages = scores.excess[:, None].expand_as(response_mask)
    return AdvantageEstimate(
        masked_whiten(token_advantages, response_mask),
        _returns(token_level_rewards, response_mask, gamma=1.0),
    )


def _returns(rewards: Tensor, response_mask: Tensor, gamma: float) -> Tensor:
    values = torch.zeros_like(rewards)
    return discounted_residuals(
        rewards, values, response_mask, None, gamma, discount=gamma
    )


@torch.no_grad()
def _grouped(
    function: str,
    token_level_rewards: Tensor,
    response_mask: Tensor,
    groups: Tensor,
    rollouts: Tensor | None,
) -> _Grouped:
    """Sum the rewards of each rollout, and compare the sums within each group.

    Where all scores of a group are equal, excess and variance are exactly 0.
    """
    require_shapes(
        function,
        response_mask=(response_mask, "bool batch time"),
        groups=(groups, "ids batch"),
        rollouts=(rollouts, "ids batch"),
    )
    require_row_tokens(function, response_mask)
    require_finite(function, response_mask, token_level_rewards=token_level_rewards)
    rewards = at_least_float32(token_level_rewards)
    scores = torch.where(response_mask, rewards, 0).sum(1)
    if rollouts is None:
        return _compared(function, "row", scores, groups)
    names, rollout = torch.unique(rollouts, return_inverse=True)
    own = groups.new_zeros(len(names)).scatter_(0, rollout, groups)
    elsewhere = own[rollout] != groups
    if elsewhere.any():
        raise ValueError(
            f"{function}: rollouts must lie in one group each, "
            f"got rows of two groups in rollout {names[rollout][elsewhere][0].item()}"
        )
    scores = _sums(scores, rollout)[: len(names)]
    compared = _compared(function, "rollout", scores, own)
    return _Grouped(*(x[rollout] for x in compared))


def _compared(function: str, unit: str, scores: Tensor, groups: Tensor) -> _Grouped:
    names, index, sizes = torch.unique(groups, return_inverse=True, return_counts=True)
    lone = sizes < 2
    if lone.any():
        raise ValueError(
            f"{function}: groups must hold at least 2 {unit}s each, got 1 {unit} of "
            f"group {names[lone][0].item()}, which has nothing to be compared with"
        )
    # Seen from the least, equal scores are 0, and their mean cannot round away.
    least = scores.new_zeros(len(sizes))
    least.scatter_reduce_(0, index, scores, "amin", include_self=False)
    above, size = scores - least[index], sizes[index]
    excess = above - _sums(above, index)[index] / size
    return _Grouped(excess, _sums(excess.square(), index)[index] / (size - 1), size)


def _sums(parts: Tensor, index: Tensor) -> Tensor:
    """By index; as long as there are parts, the most sums there can be."""
    return torch.zeros_like(parts).index_add_(0, index, parts)
