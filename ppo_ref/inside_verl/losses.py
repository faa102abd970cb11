"""The losses of actor and critic as verl's workers call them.

Masks are 1 where a token counts, else 0, in any dtype; everything else per token is
float, [batch, time]. A micro-batch without a token weighs nothing where verl gives the
counts of the mini-batch.
"""

from typing import Any

from torch import Tensor

from ppo_ref.inside_verl.aggregations import GlobalBatch, aggregation, counted
from ppo_ref.kl import bounded_log_ratio
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_mean

CLIPPED = "actor/pg_clipfrac"
DIVERGENCE = "actor/ppo_kl"
BOUNDED = "actor/pg_clipfrac_lower"


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
