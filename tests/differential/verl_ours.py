"""Ours by the names and signatures of verl's core_algos.py, and each broken once.

A plugin of pytest: they are put in the place of verl's before verl's own tests import
those; ``PPO_REF_IN_VERL`` says which, ours or broken.
"""

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ppo_ref.inside_verl.advantages import compute_gae_advantage_return
from ppo_ref.inside_verl.aggregations import GlobalBatch, aggregation
from ppo_ref.inside_verl.losses import compute_value_loss
from ppo_ref.kl import kl_k1, kl_k2, kl_k3

VARIABLE = "PPO_REF_IN_VERL"
Function = Callable[..., Any]


def agg_loss(
    loss_mat: Tensor, loss_mask: Tensor, loss_agg_mode: str, **totals: Any
) -> Tensor:
    return aggregation(loss_agg_mode, GlobalBatch(**totals))(loss_mat, loss_mask.bool())


def kl_penalty_forward(logprob: Tensor, ref_logprob: Tensor, kl_penalty: str) -> Tensor:
    both = {"log_probs": logprob, "ref_log_probs": ref_logprob}
    if kl_penalty == "abs":
        return kl_k1(**both).abs()
    names = {"kl": kl_k1, "mse": kl_k2, "low_var_kl": kl_k3}
    return (names | {"k1": kl_k1, "k2": kl_k2, "k3": kl_k3})[kl_penalty](**both)


def gae_that_reads_every_slot(
    rewards: Tensor, values: Tensor, response_mask: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    return compute_gae_advantage_return(
        rewards, values, torch.ones_like(response_mask), gamma, lam
    )


def value_loss_of_this_micro_batch(*rows: Any, **options: Any) -> Any:
    return compute_value_loss(*rows, cliprange_value=options["cliprange_value"])


def mean_for_a_sum(
    loss_mat: Tensor, loss_mask: Tensor, loss_agg_mode: str, **totals: Any
) -> Tensor:
    mode = loss_agg_mode.replace("token-sum", "token-mean")
    return agg_loss(loss_mat, loss_mask, mode, **totals)


def kl_with_k2_doubled(logprob: Tensor, ref_logprob: Tensor, kl_penalty: str) -> Tensor:
    right = kl_penalty_forward(logprob, ref_logprob, kl_penalty)
    return right * (2 if kl_penalty in ("mse", "k2") else 1)


OURS: dict[str, Function] = {
    "compute_gae_advantage_return": compute_gae_advantage_return,
    "compute_value_loss": compute_value_loss,
    "agg_loss": agg_loss,
    "kl_penalty_forward": kl_penalty_forward,
}
BROKEN: dict[str, Function] = {
    "compute_gae_advantage_return": gae_that_reads_every_slot,
    "compute_value_loss": value_loss_of_this_micro_batch,
    "agg_loss": mean_for_a_sum,
    "kl_penalty_forward": kl_with_k2_doubled,
}


if VARIABLE in os.environ:  # as a plugin, in verl's process
    from tests.differential import verl_stubs

    core_algos = verl_stubs.install()
    for name, function in (OURS if os.environ[VARIABLE] == "ours" else BROKEN).items():
        setattr(core_algos, name, function)
