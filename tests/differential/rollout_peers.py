"""verl's rollout correction and its figures of a batch, under our names."""

import ast
import math
from functools import cache
from types import SimpleNamespace
from typing import Any

from torch import Tensor

from tests.differential.peers import NOW, tensors
from tests.differential.wheels import cut, source

HELPER = "verl/trainer/ppo/rollout_corr_helper.py"
METRICS = "verl/trainer/ppo/metric_utils.py"
FUNCTIONS = (
    "_parse_rollout_is_threshold",
    "_parse_rollout_rs_thresholds",
    "compute_rollout_rejection_mask",
    "compute_rs_metrics",
    "compute_rollout_correction_weights",
    "compute_is_metrics",
    "compute_offpolicy_metrics",
)


def constants(path: str) -> dict[str, Any]:
    """What a file of verl assigns at its top in plain figures and names."""
    assigned = {}
    for node in ast.parse(source(NOW, path)).body:
        if isinstance(node, ast.Assign):
            (target,) = node.targets
        elif isinstance(node, ast.AnnAssign):
            target = node.target
        else:
            continue
        assigned[ast.unparse(target)] = ast.literal_eval(node.value)
    return assigned


@cache
def helper() -> SimpleNamespace:
    given = {"math": math, "verl_F": tensors(NOW), **constants(HELPER)}
    return cut(NOW, HELPER, *FUNCTIONS, **given)


def weights(
    level: str,
    threshold: float | str,
    *,
    old_log_probs: Tensor,
    rollout_log_probs: Tensor,
    response_mask: Tensor,
) -> tuple[Tensor, dict[str, float]]:
    return helper().compute_rollout_correction_weights(
        old_log_probs - rollout_log_probs,
        response_mask.to(old_log_probs.dtype),
        rollout_is=level,
        rollout_is_threshold=threshold,
    )


def accepted(
    option: str,
    threshold: float | str,
    *,
    old_log_probs: Tensor,
    rollout_log_probs: Tensor,
    response_mask: Tensor,
) -> Tensor:
    mask, _ = helper().compute_rollout_rejection_mask(
        old_log_probs - rollout_log_probs, response_mask.long(), option, threshold
    )
    return mask.bool()


def mismatch(
    *, old_log_probs: Tensor, rollout_log_probs: Tensor, response_mask: Tensor
) -> dict[str, float]:
    mask = response_mask.to(old_log_probs.dtype)
    return helper().compute_offpolicy_metrics(old_log_probs, rollout_log_probs, mask)
