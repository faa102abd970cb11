"""The critic's outputs, cut by the response and its mask."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.alignment import response_values
from tests.strategies import masks, numbers


@given(masks(), st.integers(1, 4))
def test_values_are_the_outputs_one_position_earlier(mask, prompt):
    batch, time = mask.shape
    outputs = numbers(0, batch, prompt + time)
    values = response_values(outputs, mask)
    for row, counts in enumerate(mask.tolist()):
        for t, count in enumerate(counts):
            expected = outputs[row, prompt - 1 + t].item() if count else 0.0
            assert values[row, t].item() == expected


def test_what_lies_outside_the_response_is_never_read():
    mask = torch.tensor([[True, True, False]])
    nan = torch.nan
    outputs = torch.tensor([[nan, 1.0, 2.0, nan, nan]], requires_grad=True)
    values = response_values(outputs, mask)
    values.sum().backward()
    assert values.tolist() == [[1, 2, 0]]
    assert outputs.grad.tolist() == [[0, 1, 1, 0, 0]]
