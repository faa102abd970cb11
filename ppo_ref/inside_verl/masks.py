"""verl's masks, zeros and ones of any dtype, as ours, which are boolean."""

import torch
from torch import Tensor


def counted(response_mask: Tensor) -> Tensor:
    """Which tokens count, whatever dtype says so; ValueError for other numbers.

    Example:
        >>> counted(torch.tensor([[1., 1., 0.]]))
        tensor([[ True,  True, False]])
    """
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
