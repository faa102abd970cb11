"""Which output belongs to which token, proved on a random causal model."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ppo_ref.alignment import (
    last_token,
    response_mask,
    response_outputs,
    response_values,
    slot_after_end,
)
from tests.strategies import masks, numbers

VOCAB = 11


def causal_outputs(sequences: Tensor, seed: int, *features: int) -> Tensor:
    """One output per position, a nonlinear function of that and all earlier tokens."""
    embedding = numbers(seed, VOCAB, *features)
    weights = numbers(seed + 1, sequences.shape[1]).abs() + 0.1
    shape = (-1, *[1] * len(features))
    return (embedding[sequences] * weights.view(shape)).cumsum(1).tanh()


@st.composite
def layouts(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Prompt length, response length, a response slot and a seed."""
    prompt, response = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    return (
        prompt,
        response,
        draw(st.integers(0, response - 1)),
        draw(st.integers(0, 99)),
    )


def sequences_of(prompt: int, response: int, seed: int) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.randint(VOCAB, (2, prompt + response), generator=source)


@given(layouts())
def test_state_slice(layout):
    r"""\begin{aligned}
    \mathrm{values}_t &= \mathrm{output}_{P+t-1} = V(s_t) \\
    s_t &= (\mathrm{prompt}, a_0, \dots, a_{t-1})
    \end{aligned}"""
    prompt, response, t, seed = layout
    sequences = sequences_of(prompt, response, seed)
    outputs = causal_outputs(sequences, seed)
    before = response_outputs(outputs, response)
    assert torch.equal(before[:, t], outputs[:, prompt - 1 + t])

    changed = sequences.clone()
    changed[:, prompt + t] = (changed[:, prompt + t] + 1) % VOCAB
    moved = response_outputs(causal_outputs(changed, seed), response) != before
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
