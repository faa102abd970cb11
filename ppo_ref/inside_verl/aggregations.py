"""verl's five ways to aggregate a loss, each over a batch that other ranks share."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from ppo_ref.aggregation import Aggregate, token_sum

TOKEN_MODES = ("token-mean", "token-sum")
SEQUENCE_MODES = (
    "seq-mean-token-sum",
    "seq-mean-token-sum-norm",
    "seq-mean-token-mean",
)


class GlobalBatch(NamedTuple):
    """What a rank is told of the mini-batch that all ranks work on together."""

    dp_size: int = 1
    batch_num_tokens: float | None = None
    global_batch_size: float | None = None
    loss_scale_factor: float | None = None


def aggregation(loss_agg_mode: str, batch: GlobalBatch) -> Aggregate:
    """The aggregation that verl calls by that name.

    Args:
        loss_agg_mode: As in verl's configuration.
        batch: The counts to divide by; None divides by the tokens, responses or slots
            of the micro-batch at hand.

    Returns:
        From the losses of a micro-batch to its part of the loss; the mean of the parts
        of all ranks is the loss of the mini-batch.

    Raises:
        ValueError: if verl 0.9.1 has no such mode, or there are several ranks and the
            count to divide by is missing; on a call, if there is nothing to divide by.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss.

    Example:
        >>> import torch
        >>> losses, mask = torch.ones(1, 3), torch.tensor([[True, True, False]])
        >>> aggregation("token-mean", GlobalBatch(2, batch_num_tokens=8))(losses, mask)
        tensor(0.5000)
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
    name: str, batch: GlobalBatch, own: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], float]:
    told = getattr(batch, name)
    if told is None and batch.dp_size > 1:
        raise ValueError(
            f"aggregation: {name} must be given for several ranks, "
            f"got None with dp_size {batch.dp_size}"
        )

    def count(response_mask: Tensor) -> float:
        number = own(response_mask).item() if told is None else float(told)
        if number <= 0:
            raise ValueError(f"aggregation: {name} must be above 0, got {number:g}")
        return number

    return count
