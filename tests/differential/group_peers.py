"""verl's and OpenRLHF's estimates without a critic, and their controllers of the KL."""

from collections import defaultdict
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.differential.others import MAKER, OPEN, piece
from tests.differential.peers import CORE, NOW, OLD, tensors
from tests.differential.wheels import cut, cut_class

GROUPWISE = "verl/utils/groupwise.py"
CONTROLLER = "openrlhf/trainer/ppo_utils/kl_controller.py"
VERL = {
    "grpo": "compute_grpo_outcome_advantage",
    "grpo_vectorized": "compute_grpo_vectorized_outcome_advantage",
    "rloo": "compute_rloo_outcome_advantage",
    "rloo_vectorized": "compute_rloo_vectorized_outcome_advantage",
    "reinforce_plus_plus": "compute_reinforce_plus_plus_outcome_advantage",
    "reinforce_plus_plus_baseline": (
        "compute_reinforce_plus_plus_baseline_outcome_advantage"
    ),
}


@cache
def _core() -> SimpleNamespace:
    group_mean_std = cut(
        NOW, GROUPWISE, "group_mean_std", _resolve_device=torch.device
    ).group_mean_std
    return cut(
        NOW,
        CORE,
        *VERL.values(),
        np=np,
        defaultdict=defaultdict,
        verl_F=tensors(NOW),
        group_mean_std=group_mean_std,
        as_torch_index=lambda index, device: torch.as_tensor(index, device=device),
    )


def verl(
    name: str,
    *,
    token_level_rewards: Tensor,
    response_mask: Tensor,
    groups: Tensor | None = None,
    gamma: float = 1.0,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Advantages and returns; verl writes into what it is handed, so it gets copies."""
    if groups is not None:
        options["index"] = groups.numpy()
    return getattr(_core(), VERL[name])(
        token_level_rewards=token_level_rewards.clone(),
        response_mask=response_mask.to(token_level_rewards.dtype),
        config=SimpleNamespace(gamma=gamma),
        **options,
    )


def open_shaped(estimator: str, scores: Tensor, per_prompt: int) -> Tensor:
    """Scores less their baseline, as OpenRLHF makes them before KL comes in."""
    advantage = SimpleNamespace(estimator=estimator)
    args = SimpleNamespace(
        algo=SimpleNamespace(advantage=advantage),
        rollout=SimpleNamespace(n_samples_per_prompt=per_prompt),
    )
    first, last = 'if args.algo.advantage.estimator == "rloo"', "rewards.mean()"
    shaped = scores.reshape(-1, per_prompt)
    return piece(OPEN, MAKER, first, last, args=args, rewards=shaped).rewards.flatten()


def controllers(kl_coef: float, target: float, horizon: float) -> dict[str, Any]:
    """One controller of each release, as it begins."""
    paths = {NOW: CORE, OLD: CORE, OPEN: CONTROLLER}
    return {
        release: cut_class(release, path, "AdaptiveKLController", np=np)(
            kl_coef, target, horizon
        )
        for release, path in paths.items()
    }
