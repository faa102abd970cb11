"""The loss of the actor as verl's workers call it."""

from typing import Any

from torch import Tensor

from ppo_ref.clipping import bounded_log_ratio
from ppo_ref.inside_verl.aggregations import GlobalBatch, aggregation
from ppo_ref.inside_verl.masks import counted
from ppo_ref.losses import policy_loss
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
    """The clipped loss, with the arguments of a loss in verl's registry.

    Args:
        old_log_prob: Of the actor that sampled, in nats, [batch, time].
        log_prob: Of the actor being trained, in nats, [batch, time].
        advantages: In reward units, or whitened, [batch, time].
        response_mask: 1 where the token counts, else 0; any dtype, [batch, time].
        loss_agg_mode: One of verl's five.
        config: verl's ActorConfig, or what has clip_ratio, clip_ratio_low,
            clip_ratio_high, clip_ratio_c and global_batch_info as it has.
        rollout_is_weights: Factors on the losses, at least 0, [batch, time].

    Returns:
        As verl's ``vanilla``: the loss, with gradient into ``log_prob`` alone, and
        three figures under the names of verl's log.

    Raises:
        ValueError: as in ``policy_loss`` and ``aggregation``. A micro-batch without a
            token is no error where the counts of the mini-batch are told: its loss
            is 0.
        TypeError: as in ``policy_loss``, or if ``config`` is None.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, compute_policy_loss_vanilla.

    Example:
        >>> from types import SimpleNamespace
        >>> config = SimpleNamespace(clip_ratio=0.2, clip_ratio_low=0.2,
        ...     clip_ratio_high=0.2, clip_ratio_c=3.0, global_batch_info={})
        >>> one, mask = torch.ones(1, 2), torch.tensor([[1., 1.]])
        >>> compute_policy_loss(-one, -0.5 * one, one, mask, config=config)[0]
        tensor(-1.2000)
    """
    if config is None:
        raise TypeError("compute_policy_loss: config must be verl's, got None")
    mask = counted(response_mask)
    batch = GlobalBatch(**config.global_batch_info)
    aggregate = aggregation(loss_agg_mode, batch)
    if not mask.any():
        return aggregate(log_prob, mask), {CLIPPED: 0.0, DIVERGENCE: 0.0, BOUNDED: 0.0}
    bound = float(getattr(config, "clip_ratio_c", 3.0))
    loss = policy_loss(
        log_probs=log_prob,
        old_log_probs=old_log_prob,
        advantages=advantages,
        response_mask=mask,
        clip_range=_clip_range(config),
        dual_clip=bound,
        rollout_weights=rollout_is_weights,
        aggregate=aggregate,
    )
    return loss.loss, {
        CLIPPED: loss.clip_fraction.item(),
        DIVERGENCE: loss.approx_kl.item(),
        BOUNDED: _bounded(log_prob, old_log_prob, advantages, mask, bound),
    }


def _clip_range(config: Any) -> tuple[float, float]:
    low, high = config.clip_ratio_low, config.clip_ratio_high
    both = config.clip_ratio
    return float(both if low is None else low), float(both if high is None else high)


def _bounded(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    response_mask: Tensor,
    bound: float,
) -> float:
    """The share of tokens where the dual clip holds."""
    ratio = bounded_log_ratio(log_probs.detach(), old_log_probs, response_mask).exp()
    held = (advantages < 0) & (ratio > bound)
    return masked_mean(held.to(ratio.dtype), response_mask).item()
