"""verl's masks, and its five ways to aggregate a loss over a batch that ranks share."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.aggregation import Aggregate, token_sum

TOKEN_MODES = ("token-mean", "token-sum")
SEQUENCE_MODES = (
    "seq-mean-token-sum",
    "seq-mean-token-sum-norm",
    "seq-mean-token-mean",
)


class GlobalBatch(NamedTuple):
    """The counts of the mini-batch that all ranks share; None counts what is here."""

    dp_size: int = 1
    batch_num_tokens: float | None = None
    global_batch_size: float | None = None
    loss_scale_factor: float | None = None


def counted(response_mask: Tensor) -> Tensor:
    """Which tokens count, whatever dtype says so; ValueError for other numbers."""
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
    divisor = _divisor(loss_agg_mode, batch)

    def aggregate(losses: Tensor, response_mask: Tensor) -> Tensor:
        if loss_agg_mode == "seq-mean-token-mean":
            losses = losses / response_mask.sum(1, keepdim=True).clamp(min=1)
        total = token_sum(losses, response_mask) * batch.dp_size
        return total / divisor(response_mask)

    return aggregate


def _divisor(mode: str, batch: GlobalBatch) -> Callable[[Tensor], float]:
    if mode == "token-sum":
        return lambda mask: 1
    if mode == "token-mean":
        return _count("batch_num_tokens", batch, lambda mask: mask.sum())
    if mode not in SEQUENCE_MODES:
        known = ", ".join(TOKEN_MODES + SEQUENCE_MODES)
        raise ValueError(
            f"aggregation: loss_agg_mode must be one of {known}, got {mode!r}"
        )
    responses = _count("global_batch_size", batch, lambda mask: mask.any(1).sum())
    if mode != "seq-mean-token-sum-norm":
        return responses
    factor = batch.loss_scale_factor
    if factor is not None and factor <= 0:
        raise ValueError(
            f"aggregation: loss_scale_factor must be above 0, got {factor:g}"
        )
    return lambda mask: responses(mask) * (factor or mask.shape[1])


def _count(
    name: str, batch: GlobalBatch, local: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], float]:
    """The global count if verl gives one, else that of the micro-batch at hand."""
    shared = getattr(batch, name)
    if shared is None and batch.dp_size > 1:
        raise ValueError(
            f"aggregation: {name} must be given for several ranks, "
            f"got None with dp_size {batch.dp_size}"
        )

    def count(response_mask: Tensor) -> float:
        number = local(response_mask).item() if shared is None else float(shared)
        if number <= 0:
            raise ValueError(f"aggregation: {name} must be above 0, got {number:g}")
        return number

    return count
