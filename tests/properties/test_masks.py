"""Which token counts, which output belongs to it, and statistics over the mask."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.aggregation import (
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from ppo_ref.alignment import (
    last_token,
    response_mask,
    response_outputs,
    response_values,
    slot_after_end,
)
from ppo_ref.masking import masked_mean, masked_sum, masked_variance, masked_whiten
from tests.strategies import masks, numbers, poisoned, token_tensors

VOCAB = 11


def causal_outputs(sequences: Tensor, seed: int) -> Tensor:
    """One output per position, a nonlinear function of that and all earlier tokens."""
    weights = numbers(seed + 1, sequences.shape[1]).abs() + 0.1
    return (numbers(seed, VOCAB)[sequences] * weights).cumsum(1).tanh()


@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 99))
def test_state_slice(prompt, response, seed):
    r"""\begin{aligned}
    \mathrm{values}_t &= \mathrm{output}_{P+t-1} = V(s_t) \\
    s_t &= (\mathrm{prompt}, a_{<t})
    \end{aligned}"""
    t, source = seed % response, torch.Generator().manual_seed(seed)
    sequences = torch.randint(VOCAB, (2, prompt + response), generator=source)
    outputs = causal_outputs(sequences, seed)
    before = response_outputs(outputs, response)
    assert torch.equal(before[:, t], outputs[:, prompt - 1 + t])
    sequences[:, prompt + t] = (sequences[:, prompt + t] + 1) % VOCAB
    moved = response_outputs(causal_outputs(sequences, seed), response) != before
    assert not moved[:, : t + 1].any()
    assert moved[:, t + 1 :].all()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_mask_ends_with_the_first_end_token(ids):
    counts = response_mask(torch.tensor([ids]), eos_token_id=2)[0].tolist()
    length = ids.index(2) + 1 if 2 in ids else len(ids)
    assert counts == [t < length for t in range(len(ids))]


@given(masks())
def test_last_token_and_the_slot_after_it(mask):
    last, after = last_token(mask).tolist(), slot_after_end(mask).tolist()
    for row, counts in enumerate(mask.tolist()):
        end = max((t for t, count in enumerate(counts) if count), default=None)
        slots = range(len(counts))
        assert last[row] == [t == end for t in slots]
        assert after[row] == [end is not None and t == end + 1 for t in slots]


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


MASK = torch.tensor([[True, False, True, True], [True, True, False, False]])


@given(token_tensors(1, least=2))
def test_statistics_and_losses_are_those_of_the_lists(batch):
    (x,), mask = batch
    rows = loops.row_lists(x, mask)
    tokens = [number for row in rows for number in row]
    means, sums = [loops.mean(row) for row in rows], [sum(row) for row in rows]
    expected = {
        masked_sum: sum(tokens),
        masked_mean: loops.mean(tokens),
        masked_variance: loops.variance(tokens),
        token_sum: sum(tokens),
        token_mean: loops.mean(tokens),
        sequence_mean_token_mean: loops.mean(means),
        sequence_mean_token_sum: loops.mean(sums),
    }
    for function, number in expected.items():
        assert_close(function(x, mask).item(), number)
    whitened = masked_whiten(x, mask)
    wanted = loops.whitened(tokens, epsilon=1e-8)  # verl's
    assert_close(loops.counted(whitened, mask), wanted)
    assert not whitened[~mask].any()


def test_of_one_token_there_is_a_mean_and_of_none_a_sum():
    one, none = MASK & (torch.arange(8).view(2, 4) == 2), torch.zeros_like(MASK)
    x = torch.full((2, 4), 3.0)
    assert masked_mean(x, one) == token_mean(x, one) == 3
    assert masked_sum(x, none) == token_sum(x, none) == 0


def test_whitening_keeps_a_constant_finite():
    assert not masked_whiten(torch.full((2, 4), 3.0), MASK).any()


# What each of the five tokens weighs, by row.
WEIGHTS = {
    masked_sum: [1, 1, 1, 1, 1],
    masked_mean: [1 / 5] * 5,
    token_mean: [1 / 5] * 5,
    token_sum: [1, 1, 1, 1, 1],
    sequence_mean_token_mean: [1 / 6, 1 / 6, 1 / 6, 1 / 4, 1 / 4],
    sequence_mean_token_sum: [1 / 2] * 5,
}


@pytest.mark.parametrize("function", WEIGHTS)
def test_a_token_gets_the_gradient_that_it_weighs_and_padding_none(function):
    x = poisoned(numbers(1, 2, 4), MASK).requires_grad_()
    function(x, MASK).backward()
    assert x.grad[MASK].tolist() == pytest.approx(WEIGHTS[function])
    assert not x.grad[~MASK].any()


def test_whitening_has_the_gradient_of_its_formula():
    x = numbers(2, 2, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: masked_whiten(x, MASK), x)
