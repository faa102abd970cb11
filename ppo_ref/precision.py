"""The precision in which the package computes."""

import torch
from torch import Tensor


def at_least_float32(x: Tensor) -> Tensor:
    """Widen bfloat16 and float16 to float32 and leave wider floats as they are."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def constant(x: Tensor, response_mask: Tensor) -> Tensor:
    """Stop the gradient, set 0 outside the mask, and widen as above."""
    return torch.where(response_mask, at_least_float32(x), 0).detach()
