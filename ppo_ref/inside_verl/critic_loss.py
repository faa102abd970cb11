"""The loss of the critic as verl's workers call it."""

from torch import Tensor

from ppo_ref.inside_verl.aggregations import GlobalBatch, aggregation
from ppo_ref.inside_verl.masks import counted
from ppo_ref.losses import value_loss


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
    """Half the squared error of the critic, by verl's name for it.

    Args:
        vpreds: Of the critic being trained, in reward units, [batch, time].
        returns: What the critic should predict, in reward units, [batch, time].
        values: Of the critic at the time of sampling, in reward units, [batch, time].
        response_mask: 1 where the token counts, else 0; any dtype, [batch, time].
        cliprange_value: In reward units, at least 0.
        loss_agg_mode: One of verl's five.
        dp_size: How many ranks share the mini-batch.
        batch_num_tokens: Tokens of the mini-batch; None counts those at hand.
        global_batch_size: Responses of the mini-batch; None counts those at hand.
        loss_scale_factor: Slots that ``seq-mean-token-sum-norm`` divides by; None
            takes those of a response at hand.

    Returns:
        As verl's: the loss, with gradient into ``vpreds`` alone, and the share of
        tokens whose clipped error is the larger one.

    Raises:
        ValueError: as in ``value_loss`` and ``aggregation``. A micro-batch without a
            token is no error where the counts of the mini-batch are told.
        TypeError: as in ``value_loss``.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, compute_value_loss.

    Example:
        >>> import torch
        >>> one, mask = torch.ones(1, 2), torch.tensor([[1., 1.]])
        >>> compute_value_loss(one, 2 * one, 0 * one, mask, 0.5)
        (tensor(1.1250), tensor(1.))
    """
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
