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
    number of the next token that does; and never below float32. The mask is 1 where
    the token counts, else 0, in any dtype.

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
