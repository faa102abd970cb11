"""What a GPU gives is what the CPU gives, half precision what float32 gives."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref import examples
from site_tools.run.execution import device_type, on_device
from tests.calls import VALID

EXAMPLES = [
    examples.world,
    examples.shared_batch,
    examples.three_tokens,
    examples.two_token_tree,
    examples.four_token_tree,
]


@pytest.fixture
def device(request) -> str:
    """The one of ``--device``, else a GPU if there is one."""
    asked: str = request.config.getoption("device")
    if asked != "cpu":
        return asked
    if not torch.cuda.is_available():
        pytest.skip("no GPU that PyTorch can use: ppo_ref is judged on the CPU only")
    return "cuda"


def moved(x: Any, device: str):
    """The same there: a tensor, those of a named tuple, a copy of a network."""
    if isinstance(x, torch.Tensor):
        return x.to(device)
    if isinstance(x, torch.nn.Module):
        return copy.deepcopy(x).to(device)
    if hasattr(x, "_fields"):
        return type(x)(*(moved(field, device) for field in x))
    return x


def parts(result) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("function", VALID, ids=lambda function: function.__name__)
def test_a_function_gives_on_the_device_what_it_gives_on_the_cpu(function, device):
    inputs = VALID[function]
    there = function(**{key: moved(x, device) for key, x in inputs.items()})
    for here, result in zip(parts(function(**inputs)), parts(there), strict=True):
        if isinstance(here, torch.Tensor):
            assert result.device.type == device_type(device)
            assert_close(result.cpu(), here)
        else:
            assert result == here


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_moves_all_of_its_tensors(example):
    tensors = [x for x in example("meta") if isinstance(x, torch.Tensor)]
    assert tensors and all(x.is_meta for x in tensors)


@pytest.mark.parametrize(
    ("code", "there"),
    [
        ('device = "cpu"  # or "cuda"\nx = 1', 'device = "cuda"  # or "cuda"\nx = 1'),
        ('device = "cpu" if small else other', 'device = "cpu" if small else other'),
        ('my_device = "cpu"', 'my_device = "cpu"'),
    ],
)
def test_only_the_line_that_names_the_device_changes(code, there):
    assert on_device(code, "cuda") == there
    assert on_device(code, "cpu") == code


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


def results(function, dtype: torch.dtype, by: torch.dtype) -> list[Tensor]:
    """Of floats rounded to one precision and handed over in another."""
    inputs = {
        name: x.to(dtype).to(by)
        if isinstance(x, Tensor) and x.is_floating_point()
        else x
        for name, x in VALID[function].items()
    }
    return [x for x in parts(function(**inputs)) if x.is_floating_point()]


@pytest.mark.parametrize("function", STAGES, ids=lambda f: f.__name__)
def test_half_precision_is_computed_in_float32_and_float64_stays(function):
    for half in (torch.bfloat16, torch.float16):
        wanted = results(function, half, torch.float32)
        for came, exact in zip(results(function, half, half), wanted, strict=True):
            if function.__name__ != "response_outputs":  # a slice, in the model's own
                assert came.dtype == torch.float32
            assert torch.equal(came.float(), exact)
    near = results(function, torch.float32, torch.float32)
    wide = results(function, torch.float32, torch.float64)
    for came, wanted in zip(wide, near, strict=True):
        assert came.dtype == torch.float64
        assert_close(came.float(), wanted, rtol=1e-4, atol=1e-5)  # float32's rounding
