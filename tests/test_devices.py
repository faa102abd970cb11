"""What a GPU gives is what the CPU gives; how a block gets there."""

import copy
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from ppo_ref import examples
from site_tools.running.verdict import kind, on_device
from tests.calls import VALID

EXAMPLES = [
    examples.shared_batch,
    examples.three_tokens,
    examples.two_token_tree,
    examples.four_token_tree,
]


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    """The one of ``--device``, else a GPU if there is one."""
    asked: str = request.config.getoption("device")
    if asked != "cpu":
        return asked
    if not torch.cuda.is_available():
        pytest.skip("no GPU that PyTorch can use: ppo_ref is judged on the CPU only")
    return "cuda"


def moved(x: Any, device: str) -> Any:
    """The same there: a tensor, those of a named tuple, a copy of a network."""
    if isinstance(x, torch.Tensor):
        return x.to(device)
    if isinstance(x, torch.nn.Module):
        return copy.deepcopy(x).to(device)
    if hasattr(x, "_fields"):
        return type(x)(*(moved(field, device) for field in x))
    return x


def parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("function", VALID, ids=lambda function: function.__name__)
def test_a_function_gives_on_the_device_what_it_gives_on_the_cpu(function, device):
    inputs = VALID[function]
    there = function(**{key: moved(x, device) for key, x in inputs.items()})
    for here, result in zip(parts(function(**inputs)), parts(there), strict=True):
        if isinstance(here, torch.Tensor):
            assert result.device.type == kind(device)
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
