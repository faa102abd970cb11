"""verl's masks, zeros and ones of any dtype, as ours, which are boolean."""

import torch
from torch import Tensor


def counted(response_mask: Tensor) -> Tensor:
    """Which tokens count, whatever dtype says so.

    Args:
        response_mask: 1 or True where the token counts, else 0; any dtype and shape.

    Returns:
        The same as booleans.

    Raises:
        ValueError: if an element is neither 0 nor 1.

    Example:
        >>> counted(torch.tensor([[1., 1., 0.]]))
        tensor([[ True,  True, False]])
    """
    if response_mask.dtype == torch.bool:
        return response_mask
    other = (response_mask != 0) & (response_mask != 1)
    if other.any():
        position = other.nonzero()[0].tolist()
        came = response_mask[tuple(position)].item()
        raise ValueError(
            f"counted: response_mask must be 0 or 1, got {came} at {position}"
        )
    return response_mask.bool()
