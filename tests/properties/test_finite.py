"""What is not finite is found where it counts, and nothing else is refused."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.contracts.checks import require_finite
from tests.strategies import token_tensors

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
GARBAGE = [torch.nan, torch.inf, -torch.inf]


@given(token_tensors(2, least=0), st.data())
def test_garbage_is_refused_exactly_where_it_counts(batch, data):
    (x, y), mask = batch
    row = data.draw(st.integers(0, mask.shape[0] - 1))
    column = data.draw(st.integers(0, mask.shape[1] - 1))
    y[row, column] = data.draw(st.sampled_from(GARBAGE))
    if mask[row, column]:
        with pytest.raises(ValueError, match=rf"f: y .* at \[{row}, {column}\]"):
            require_finite("f", mask, x=x, y=y)
    else:
        require_finite("f", mask, x=x, y=y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sum_that_overflows_is_no_fault(dtype):
    """Each number is finite, and so is none of their sums."""
    largest = torch.full((2, 3), torch.finfo(dtype).max, dtype=dtype)
    require_finite("f", torch.ones(2, 3, dtype=torch.bool), x=largest, y=-largest)


@pytest.mark.parametrize("dtype", DTYPES)
def test_infinities_that_cancel_are_found(dtype):
    x = torch.tensor([[torch.inf, -torch.inf]], dtype=dtype)
    with pytest.raises(ValueError, match=r"got inf at \[0, 0\]"):
        require_finite("f", x.isinf(), x=x)
