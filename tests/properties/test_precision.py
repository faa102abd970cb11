"""Half precision is computed and answered in float32; wider floats stay as they are."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.calls import VALID

# What takes tensors alone, and answers in tensors: the stages but the head in chunks.
STAGES = [
    function
    for function in VALID
    if function.__module__.count(".") == 1
    and function.__module__ not in ("ppo_ref.chunked", "ppo_ref.trace")
    and any(
        isinstance(x, Tensor) and x.is_floating_point()
        for x in VALID[function].values()
    )
]
each = pytest.mark.parametrize("function", STAGES, ids=lambda f: f.__name__)


def results(function, dtype: torch.dtype, by: torch.dtype) -> list[Tensor]:
    """Of floats rounded to one precision and handed over in another."""
    inputs = {
        name: x.to(dtype).to(by)
        if isinstance(x, Tensor) and x.is_floating_point()
        else x
        for name, x in VALID[function].items()
    }
    result = function(**inputs)
    parts = result if isinstance(result, tuple) else (result,)
    return [x for x in parts if x.is_floating_point()]


@each
@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(function, half):
    pairs = zip(
        results(function, half, half),
        results(function, half, torch.float32),
        strict=True,
    )
    for came, wanted in pairs:
        if function.__name__ != "response_outputs":  # a slice, in the model's own
            assert came.dtype == torch.float32
        assert torch.equal(came.float(), wanted)


@each
def test_float64_stays_float64(function):
    wide, near = (
        results(function, torch.float32, dtype)
        for dtype in (torch.float64, torch.float32)
    )
    for came, wanted in zip(wide, near, strict=True):
        assert came.dtype == torch.float64
        assert_close(came.float(), wanted, rtol=1e-4, atol=1e-5)  # float32's rounding
