"""The losses and the whitening of TorchRL and Stable-Baselines3 as published.

They have no mask: give them the tokens that count, one after the other.
"""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from tests.differential.control_peers import STABLE, TORCHRL
from tests.differential.others import piece
from tests.differential.wheels import cut

CLIPPED = "torchrl/objectives/ppo.py"
CRITIC = "torchrl/objectives/utils.py"
ESTIMATORS = "torchrl/objectives/value/advantages.py"
UPDATE = "stable_baselines3/ppo/ppo.py"


def torchrl_whitened(advantages: Tensor, valid: Tensor | None = None) -> Tensor:
    """As ``GAE`` with ``average_gae``; ``valid`` is what TorchRL has of a mask."""
    function = cut(TORCHRL, ESTIMATORS, "GAE._normalize_advantage")
    estimator = SimpleNamespace(_expand_to_match=lambda mask, _: mask)
    return function._normalize_advantage(estimator, advantages, valid)


def stable_whitened(advantages: Tensor) -> Tensor:
    line = "advantages = (advantages - advantages.mean())"
    return piece(STABLE, UPDATE, line, line, advantages=advantages).advantages


def torchrl_policy_loss(
    *,
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    clip_range: tuple[float, float],
) -> tuple[Tensor, Tensor | float]:
    low, high = torch.tensor(clip_range, dtype=log_probs.dtype)
    bounds = SimpleNamespace(_clip_bounds=((-low).log1p(), high.log1p()))
    shift = log_probs - old_log_probs
    weights = {"log_behav_weight": shift, "log_weight": shift, "log_is_weight": None}
    first, last = "gain1 = log_behav_weight.exp()", "gain = torch.stack([gain1"
    given = {"self": bounds, "advantage": advantages, **weights}
    ran = piece(TORCHRL, CLIPPED, first, last, **given)
    return -ran.gain.mean(), ran.clip_fraction


def torchrl_value_loss(
    *, values: Tensor, old_values: Tensor, returns: Tensor, value_clip_range: float
) -> tuple[Tensor, Tensor | float]:
    """With TorchRL's distance ``l2``, which it does not halve."""

    def squared(x: Tensor, y: Tensor, loss_function: str) -> Tensor:
        return (x - y) ** 2

    clipped = cut(TORCHRL, CRITIC, "_clip_value_loss", distance_loss=squared)
    limit = torch.tensor(value_clip_range, dtype=values.dtype)
    plain = squared(returns, values, "l2")
    losses, fraction = clipped._clip_value_loss(
        old_values, values, limit, returns, plain, "l2"
    )
    return losses.mean(), fraction


def stable_policy_loss(
    *, log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip_range: float
) -> tuple[Tensor, Tensor | float]:
    rollout = SimpleNamespace(old_log_prob=old_log_probs)
    names = {"log_prob": log_probs, "rollout_data": rollout, "advantages": advantages}
    first, last = "ratio = th.exp(log_prob", "clip_fraction = th.mean("
    given = {"th": torch, "clip_range": clip_range, "pg_losses": [], **names}
    ran = piece(STABLE, UPDATE, first, last, **given)
    return ran.policy_loss, ran.clip_fraction


def stable_value_loss(
    *, values: Tensor, old_values: Tensor, returns: Tensor, value_clip_range: float
) -> Tensor:
    rollout = SimpleNamespace(old_values=old_values, returns=returns)
    agent = SimpleNamespace(clip_range_vf=value_clip_range)
    given = {"th": torch, "F": torch.nn.functional, "clip_range_vf": value_clip_range}
    names = {"self": agent, "values": values, "rollout_data": rollout}
    first, last = "if self.clip_range_vf is None:", "value_loss = F.mse_loss("
    return piece(STABLE, UPDATE, first, last, **given, **names).value_loss


def stable_approx_kl(log_probs: Tensor, old_log_probs: Tensor) -> Any:
    rollout = SimpleNamespace(old_log_prob=old_log_probs)
    names = {"th": torch, "log_prob": log_probs, "rollout_data": rollout}
    first, last = "log_ratio = log_prob - rollout_data", "approx_kl_div = th.mean("
    return piece(STABLE, UPDATE, first, last, **names).approx_kl_div.item()
