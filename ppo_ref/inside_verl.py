"""Our GAE and losses behind the names and arguments of verl 0.9.1.

The trainer here is one process; verl, on Ray, is how a run goes beyond one device.
Masks are 1 where a token counts, else 0, in any dtype; everything else per token is
float, [batch, time]. A micro-batch without a token weighs nothing where verl gives the
counts of the mini-batch.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

import torch
from torch import Tensor

from ppo_ref.aggregation import Aggregate, token_sum
from ppo_ref.kl import bounded_log_ratio
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_mean
from ppo_ref.train.estimates import whitened_gae

RELEASE = "0.9.1"
LOSS_MODE = "ppo_ref"
MODES = (
    "token-mean",
    "token-sum",
    "seq-mean-token-sum",
    "seq-mean-token-sum-norm",
    "seq-mean-token-mean",
)
CLIPPED = "actor/pg_clipfrac"
DIVERGENCE = "actor/ppo_kl"
BOUNDED = "actor/pg_clipfrac_lower"

P = ParamSpec("P")
R = TypeVar("R")


def compute_gae_advantage_return(
    token_level_rewards: Tensor,
    values: Tensor,
    response_mask: Tensor,
    gamma: float,
    lam: float,
) -> tuple[Tensor, Tensor]:
    """Advantages, whitened over the batch, and returns, by verl's name for it.

    As verl's, except that both are 0 where no token counts, where verl goes on with the
    number of the next token that does; and never below float32.
    """
    advantages, returns = whitened_gae(
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=counted(response_mask),
        gamma=float(gamma),
        gae_lambda=float(lam),
    )
    return advantages, returns


def compute_policy_loss(
    old_log_prob: Tensor,
    log_prob: Tensor,
    advantages: Tensor,
    response_mask: Tensor,
    loss_agg_mode: str = "token-mean",
    config: Any = None,
    rollout_is_weights: Tensor | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """The clipped loss and three figures of verl's log (compute_policy_loss_vanilla).

    ``config`` is verl's ActorConfig. What ``policy_loss`` refuses, this refuses.
    """
    if config is None:
        raise TypeError("compute_policy_loss: config must be verl's, got None")
    mask = counted(response_mask)
    aggregate = aggregation(loss_agg_mode, GlobalBatch(**config.global_batch_info))
    if not mask.any():
        return aggregate(log_prob, mask), {CLIPPED: 0.0, DIVERGENCE: 0.0, BOUNDED: 0.0}
    low, high = config.clip_ratio_low, config.clip_ratio_high
    bound = float(getattr(config, "clip_ratio_c", 3.0))
    loss = policy_loss(
        log_probs=log_prob,
        old_log_probs=old_log_prob,
        advantages=advantages,
        response_mask=mask,
        clip_range=(
            float(config.clip_ratio if low is None else low),
            float(config.clip_ratio if high is None else high),
        ),
        dual_clip=bound,
        rollout_weights=rollout_is_weights,
        aggregate=aggregate,
    )
    ratio = bounded_log_ratio(log_prob.detach(), old_log_prob, mask).exp()
    bounded = (advantages < 0) & (ratio > bound)
    return loss.loss, {
        CLIPPED: loss.clip_fraction.item(),
        DIVERGENCE: loss.approx_kl.item(),
        BOUNDED: masked_mean(bounded.to(ratio.dtype), mask).item(),
    }


def compute_value_loss(
    vpreds: Tensor,
    returns: Tensor,
    values: Tensor,
    response_mask: Tensor,
    cliprange_value: float,
    loss_agg_mode: str = "token-mean",
    dp_size: int = 1,
    batch_num_tokens: int | None = None,
    global_batch_size: int | None = None,
    loss_scale_factor: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Half the squared error and its clip fraction (compute_value_loss)."""
    mask = counted(response_mask)
    batch = GlobalBatch(dp_size, batch_num_tokens, global_batch_size, loss_scale_factor)
    aggregate = aggregation(loss_agg_mode, batch)
    if not mask.any():
        return aggregate(vpreds, mask), vpreds.new_zeros(())
    loss = value_loss(
        values=vpreds,
        old_values=values,
        returns=returns,
        response_mask=mask,
        value_clip_range=float(cliprange_value),
        aggregate=aggregate,
    )
    return loss.loss, loss.clip_fraction


class GlobalBatch(NamedTuple):
    """The counts of the mini-batch that all ranks share; None counts what is here."""

    dp_size: int = 1
    batch_num_tokens: float | None = None
    global_batch_size: float | None = None
    loss_scale_factor: float | None = None


def counted(response_mask: Tensor) -> Tensor:
    """The mask as bools, whatever dtype it has; ValueError for other numbers."""
    if response_mask.dtype == torch.bool:
        return response_mask
    other = (response_mask != 0) & (response_mask != 1)
    if other.any():
        position = other.nonzero()[0].tolist()
        raise ValueError(
            "counted: response_mask must be 0 or 1, got "
            f"{response_mask[tuple(position)].item()} at {position}"
        )
    return response_mask.bool()


def aggregation(loss_agg_mode: str, batch: GlobalBatch) -> Aggregate:
    """The aggregation that verl calls by that name (core_algos.agg_loss).

    The mean of what it returns on all ranks is the loss of the mini-batch. It raises a
    ValueError for an unknown mode, a missing count, or a count of 0.
    """
    if loss_agg_mode not in MODES:
        raise ValueError(
            f"aggregation: loss_agg_mode must be one of {', '.join(MODES)}, "
            f"got {loss_agg_mode!r}"
        )
    by_sequence = loss_agg_mode.startswith("seq")
    norm = loss_agg_mode.endswith("norm")
    factor = batch.loss_scale_factor
    if by_sequence:
        name, shared = "global_batch_size", batch.global_batch_size
    else:
        name, shared = "batch_num_tokens", batch.batch_num_tokens
    if loss_agg_mode != "token-sum" and shared is None and batch.dp_size > 1:
        raise ValueError(
            f"aggregation: {name} must be given for several ranks, "
            f"got None with dp_size {batch.dp_size}"
        )
    if norm and factor is not None and factor <= 0:
        raise ValueError(
            f"aggregation: loss_scale_factor must be above 0, got {factor:g}"
        )

    def aggregate(losses: Tensor, response_mask: Tensor) -> Tensor:
        if loss_agg_mode == "seq-mean-token-mean":
            losses = losses / response_mask.sum(1, keepdim=True).clamp(min=1)
        total = token_sum(losses, response_mask) * batch.dp_size
        if loss_agg_mode == "token-sum":
            return total
        here = response_mask.any(1) if by_sequence else response_mask
        count = here.sum().item() if shared is None else float(shared)
        if count <= 0:
            raise ValueError(f"aggregation: {name} must be above 0, got {count:g}")
        if norm:
            count *= factor or response_mask.shape[1]
        return total / count

    return aggregate


def install() -> None:
    """Put our policy loss, GAE and value loss where verl looks for its own.

    Each of the three says so once per process, when it is first called. Where verl is
    missing or of another release, nothing is replaced and a RuntimeError says so.
    """
    release = _release()
    if release != RELEASE:
        raise RuntimeError(f"install: verl must be release {RELEASE}, got {release}")
    core_algos: Any = importlib.import_module("verl.trainer.ppo.core_algos")
    losses: Any = importlib.import_module("verl.workers.utils.losses")
    if LOSS_MODE in core_algos.POLICY_LOSS_REGISTRY:
        return
    gae = _announced("GAE", compute_gae_advantage_return)
    value_loss = _announced("the value loss", compute_value_loss)
    policy_loss = _announced("the policy loss", compute_policy_loss)
    core_algos.compute_gae_advantage_return = gae
    core_algos.ADV_ESTIMATOR_REGISTRY["gae"] = gae
    core_algos.compute_value_loss = value_loss
    losses.compute_value_loss = value_loss  # it copied the name when it was imported
    core_algos.register_policy_loss(LOSS_MODE)(policy_loss)


def _release() -> str:
    try:
        return str(importlib.import_module("verl").__version__)
    except ModuleNotFoundError as missing:
        if missing.name != "verl":
            raise
        return "none"


def _announced(what: str, function: Callable[P, R]) -> Callable[P, R]:
    """The same function; its first call in this process prints a line."""
    # What is remembered is not printed again.
    say = functools.cache(functools.partial(print, flush=True))

    @functools.wraps(function)
    def announced(*args: P.args, **kwargs: P.kwargs) -> R:
        say(f"ppo_ref computes {what} (verl {RELEASE})")
        return function(*args, **kwargs)

    return announced
