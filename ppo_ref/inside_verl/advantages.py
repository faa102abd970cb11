"""GAE as verl's trainer calls it."""

from torch import Tensor

from ppo_ref.inside_verl.aggregations import counted
from ppo_ref.training.estimates import whitened_gae


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

    Args:
        token_level_rewards: Float, [batch, time], in reward units.
        values: Float, [batch, time], in reward units.
        response_mask: 1 where the token counts, else 0; any dtype, [batch, time].
        gamma: Discount per token, in [0, 1].
        lam: Lambda, in [0, 1].

    Returns:
        Advantages and returns, [batch, time].

    Raises:
        ValueError: as in ``whitened_gae``, or if the mask holds another number.
        TypeError: as in ``whitened_gae``.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, compute_gae_advantage_return.

    Example:
        >>> import torch
        >>> zeros, mask = torch.zeros(1, 3), torch.tensor([[1., 1., 0.]])
        >>> rewards = torch.tensor([[2., 1., 0.]])
        >>> compute_gae_advantage_return(rewards, zeros, mask, 1.0, 1.0)
        (tensor([[ 0.7071, -0.7071,  0.0000]]), tensor([[3., 1., 0.]]))
    """
    advantages, returns = whitened_gae(
        token_level_rewards=token_level_rewards,
        values=values,
        response_mask=counted(response_mask),
        gamma=float(gamma),
        gae_lambda=float(lam),
    )
    return advantages, returns
