"""The precision in which the package computes."""

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """Widen bfloat16 and float16 to float32 and leave wider floats as they are.

    Args:
        x: Any floating-point tensor.

    Returns:
        ``x`` itself or its float32 copy; gradient flows.

    Example:
        >>> at_least_float32(torch.ones(2, dtype=torch.bfloat16)).dtype
        torch.float32
        >>> at_least_float32(torch.ones(2, dtype=torch.float64)).dtype
        torch.float64
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))
