"""From one score per response to one reward per token."""

import torch
from torch.nn.functional import pad

from ppo_ref.alignment import last_token, turn_numbers
from ppo_ref.precision import at_least_float32
from ppo_ref.require import (
    RowValues,
    TokenMask,
    Tokens,
    TurnValues,
    require_at_least,
    require_finite,
    require_row_tokens,
    require_shapes,
)


def token_level_scores(scores: RowValues, response_mask: TokenMask) -> Tokens:
    """Each response's score on its last token, where the verdict arrives.

    Args:
        scores: One per response, in reward units.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        Reward units, 0 in all slots but the last that counts; gradient flows.

    Raises:
        ValueError: if a row has no token to carry its score, or a score is not finite.

    Example:
        >>> mask = torch.tensor([[True, True, False]])
        >>> token_level_scores(torch.tensor([1.]), mask)
        tensor([[0., 1., 0.]])
    """
    require_row_tokens("token_level_scores", response_mask)
    require_finite("token_level_scores", response_mask, "batch", scores=scores)
    return torch.where(last_token(response_mask), at_least_float32(scores)[:, None], 0)


def turn_level_scores(scores: TurnValues, response_mask: TokenMask) -> Tokens:
    """Each turn's score on the last token of that turn, as ``turn_numbers`` has them.

    Args:
        scores: By row and turn, in reward units; 0 for a turn that a row has not.
        response_mask: True where the model sampled the token; gaps are what others
            wrote.

    Returns:
        Reward units, 0 in all slots but each turn's last; gradient flows. A row's sum
        is that of its scores.

    Raises:
        ValueError: if a row has more turns than scores, a turn that a row has not has
            a score, or a score is not finite.

    Example:
        >>> mask = torch.tensor([[True, True, False, True]])
        >>> turn_level_scores(torch.tensor([[0.5, 1.]]), mask)
        tensor([[0.0000, 0.5000, 0.0000, 1.0000]])
    """
    require_shapes(
        "turn_level_scores",
        scores=(scores, "float batch turns"),
        response_mask=(response_mask, "bool batch time"),
    )
    turns, columns = turn_numbers(response_mask), scores.shape[1]
    ends = response_mask & (pad(turns, (0, 1), value=-1)[:, 1:] != turns)
    counts = ends.sum(1)
    beyond = torch.arange(columns, device=turns.device) >= counts[:, None]
    require_finite("turn_level_scores", torch.ones_like(beyond), scores=scores)
    misfit = (counts > columns) | (beyond & (scores != 0)).any(1)
    if misfit.any():
        row = int(misfit.nonzero()[0])
        raise ValueError(
            "turn_level_scores: scores must hold one number per turn, and 0 beyond; "
            f"row {row} has {counts[row]} turns, got {scores[row].tolist()}"
        )
    # Number -1, of no turn, takes the last column.
    padded = pad(at_least_float32(scores), (0, 1))
    return torch.where(ends, padded.gather(1, turns % (columns + 1)), 0)


def token_level_rewards(
    *, token_level_scores: Tokens, kl: Tokens, response_mask: TokenMask, kl_coef: float
) -> Tokens:
    """The scores less the price of leaving the reference.

        r_t = score_t - kl_coef * kl_t

    Args:
        token_level_scores: In reward units, 0 on all but the last token.
        kl: Estimate per token, in nats; k1 is the usual one here.
        response_mask: True where the token counts; gaps allowed.
        kl_coef: Reward units per nat, at least 0; 0 leaves the scores alone.

    Returns:
        Reward received after emitting token t, in reward units, 0 outside the mask;
        gradient flows, and ``gae`` stops it.

    Raises:
        ValueError: if ``kl_coef`` is negative, or an input is not finite on a token
            that counts.

    Source:
        verl v0.9.1, verl/trainer/ppo/ray_trainer.py, apply_kl_penalty.

    Example:
        >>> token_level_rewards(
        ...     token_level_scores=torch.tensor([[0., 1., 0.]]),
        ...     kl=torch.tensor([[2., -1., 5.]]),
        ...     response_mask=torch.tensor([[True, True, False]]),
        ...     kl_coef=0.5,
        ... )
        tensor([[-1.0000,  1.5000,  0.0000]])
    """
    require_at_least("token_level_rewards", 0, kl_coef=kl_coef)
    require_finite(
        "token_level_rewards",
        response_mask,
        token_level_scores=token_level_scores,
        kl=kl,
    )
    penalty = kl_coef * at_least_float32(kl)
    rewards = at_least_float32(token_level_scores) - penalty
    return torch.where(response_mask, rewards, 0)
