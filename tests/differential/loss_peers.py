"""The losses of OpenRLHF and TRL as published, under our names."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from tests.differential.others import OPEN, TRAINER, TRL, open_rewards, piece
from tests.differential.wheels import cut

OPEN_LOSSES = "openrlhf/models/loss.py"


@cache
def open_statistics() -> SimpleNamespace:
    return cut(OPEN, "openrlhf/models/utils.py", "masked_mean")


@cache
def open_aggregate() -> Any:
    given = vars(open_statistics())
    return cut(OPEN, OPEN_LOSSES, "aggregate_loss", **given).aggregate_loss


@cache
def open_loss(kind: str) -> Any:
    """``forward`` of the class of that name, which wants its options as self."""
    given = vars(open_statistics()) | {"aggregate_loss": open_aggregate()}
    return cut(OPEN, OPEN_LOSSES, f"{kind}.forward", **given).forward


def open_policy_loss(
    *,
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    response_mask: Tensor,
    clip_range: tuple[float, float],
    dual_clip: float | None = None,
    token_level_loss: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """Loss, clip fraction, and mean of old less new log-probs."""
    options = SimpleNamespace(
        policy_loss_type="ppo",
        is_correction_level="off",
        token_level_loss=token_level_loss,
        dual_clip=dual_clip,
        clip_eps_low=clip_range[0],
        clip_eps_high=clip_range[1],
    )
    mask = response_mask.to(advantages.dtype)
    rows = log_probs, old_log_probs, advantages
    return open_loss("PolicyLoss")(options, *rows, action_mask=mask)[:3]


def open_value_loss(
    *,
    values: Tensor,
    old_values: Tensor,
    returns: Tensor,
    response_mask: Tensor,
    value_clip_range: float,
) -> Tensor:
    options = SimpleNamespace(clip_eps=value_clip_range, token_level_loss=True)
    mask = response_mask.to(values.dtype)
    rows = values, old_values, returns
    return open_loss("ValueLoss")(options, *rows, action_mask=mask)


def open_kl(kl_estimator: str, *, log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    """In float32, whatever comes."""
    rows = {"log_probs": log_probs, "log_probs_base": ref_log_probs}
    return open_rewards().compute_approx_kl(**rows, kl_estimator=kl_estimator)


def trl_kl(kl_estimator: str, *, log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    rows = {"logprobs": log_probs, "ref_logprobs": ref_log_probs}
    given = {"args": SimpleNamespace(kl_estimator=kl_estimator), **rows}
    return piece(
        TRL, TRAINER, "logr = ref_logprobs - logprobs", "kl = -logr", **given
    ).kl


@cache
def trl_statistics() -> SimpleNamespace:
    return cut(TRL, TRAINER, "masked_mean", "masked_var", "masked_whiten")


def trl_policy_loss(
    *,
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    response_mask: Tensor,
    clip_range: float,
) -> tuple[Tensor, Tensor]:
    names = {
        "new_logprobs": log_probs,
        "mb_logprobs": old_log_probs,
        "mb_advantage": advantages,
        "padding_mask": ~response_mask,
        "micro_batch_inds": slice(None),
        "args": SimpleNamespace(cliprange=clip_range),
        **vars(trl_statistics()),
    }
    loss = piece(TRL, TRAINER, "logprobs_diff = new", "pg_loss = masked_mean", **names)
    given = vars(loss) | {"logits": torch.zeros(1)}  # the line behind wants them
    counted = piece(TRL, TRAINER, "pg_clipfrac = masked", "prob_dist = ", **given)
    return loss.pg_loss, counted.pg_clipfrac


def trl_value_loss(
    *,
    values: Tensor,
    old_values: Tensor,
    returns: Tensor,
    response_mask: Tensor,
    value_clip_range: float,
) -> Tensor:
    names = {
        "vpred": values,
        "mb_values": old_values,
        "mb_return": returns,
        "padding_mask_p1": ~response_mask,
        "micro_batch_inds": slice(None),
        "args": SimpleNamespace(cliprange_value=value_clip_range),
        **vars(trl_statistics()),
    }
    first, last = "vpredclipped = torch.clamp(", "vf_loss = 0.5 * masked_mean"
    return piece(TRL, TRAINER, first, last, **names).vf_loss
