"""How far two computations of one number may differ."""

import torch
from torch import Tensor

# Per unit of size. Two kernels that sum in another order differ in the last digits of
# their dtype; over a vocabulary and a long sequence that comes to some hundred of its
# steps in float32, to a dozen in the two short ones.
TOLERANCE = {
    torch.float64: 1e-9,
    torch.float32: 1e-4,
    torch.float16: 2e-2,
    torch.bfloat16: 1e-1,
}


def tolerance_for(*tensors: Tensor) -> float:
    """The tolerance of the coarsest dtype among tensors.

    Args:
        tensors: Floating-point tensors.

    Returns:
        1e-9 for float64, 1e-4 for float32, 0.02 for float16, 0.1 for bfloat16.

    Example:
        >>> tolerance_for(torch.ones(1), torch.ones(1, dtype=torch.bfloat16))
        0.1
    """
    return max(TOLERANCE[tensor.dtype] for tensor in tensors)


def beyond(difference: Tensor, tolerance: float, *sizes: Tensor) -> Tensor:
    """Where a difference is more than rounding.

    Args:
        difference: Of two numbers that should be equal.
        tolerance: Per unit of size.
        sizes: Numbers that went into both; where they are below 1, 1 counts.

    Returns:
        True where the difference counts as one; nan does.

    Example:
        >>> beyond(torch.tensor([0.5, 0.5]), 0.1, torch.tensor([1., 9.]))
        tensor([ True, False])
    """
    size = torch.ones_like(difference)
    for other in sizes:
        size = torch.maximum(size, other.abs().to(size.dtype))
    return ~(difference.abs() <= tolerance * size)
