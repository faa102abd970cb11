"""Log-probs and entropy against a loop over the vocabulary."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.kernels.logits import blocks, fits_few_blocks
from ppo_ref.log_probs import (
    log_probs_and_entropy,
    token_entropy,
    token_log_probs,
)
from tests import oracles
from tests.strategies import numbers

temperatures = st.sampled_from([1, 0.5, 2.0])


def sampled(seed: int, batch: int, time: int, vocab: int) -> torch.Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.randint(vocab, (batch, time), generator=source)


@settings(max_examples=30)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 6), temperatures)
def test_statistics_are_those_of_the_softmax(batch, time, vocab, temperature):
    logits = 5 * numbers(vocab, batch, time, vocab)
    responses = sampled(time, batch, time, vocab)
    log_probs = token_log_probs(logits, responses, temperature)
    entropy = token_entropy(logits, temperature)
    for row in range(batch):
        for t in range(time):
            scaled = (logits[row, t] / temperature).tolist()
            chosen = oracles.log_softmax(scaled)[responses[row, t]]
            assert_close(log_probs[row, t].item(), chosen)
            assert_close(entropy[row, t].item(), oracles.entropy(scaled))
    both = log_probs_and_entropy(logits, responses, temperature)
    assert torch.equal(both.log_probs, log_probs)
    assert torch.equal(both.entropy, entropy)


def test_a_forbidden_token_leaves_the_gradient_finite():
    logits = torch.tensor([[[1.0, 2.0, -math.inf]]], requires_grad=True)
    statistics = log_probs_and_entropy(logits, torch.tensor([[1]]))
    (statistics.log_probs + statistics.entropy).sum().backward()
    assert logits.grad.isfinite().all()


def test_gradients_are_those_of_the_formulas():
    logits, responses = numbers(1, 2, 3, 4).requires_grad_(), sampled(1, 2, 3, 4)
    assert torch.autograd.gradcheck(
        lambda x: tuple(log_probs_and_entropy(x, responses, 0.7)), logits
    )


VOCAB = 2**10


def sizes(rows: int, vocab: int, device: str) -> list[int]:
    logits = torch.empty(rows, vocab, device=device)
    ids = torch.empty(rows, 1, device=device)
    cut = [(len(some), len(own)) for some, own in blocks(logits, ids)]
    assert all(some == own for some, own in cut)
    return [some for some, _ in cut]


@pytest.mark.parametrize(
    ("device", "elements"),
    [("cpu", 262_144), ("meta", 1_048_576)],  # meta stands for whatever is no CPU
)
def test_a_block_holds_as_many_rows_as_its_elements_allow(device, elements):
    most = elements // VOCAB
    assert sizes(2 * most + 1, VOCAB, device) == [most, most, 1]
    assert sizes(3, elements + 1, device) == [1, 1, 1]
    assert sizes(3, elements // 2 - 1, device) == [2, 1]


@pytest.mark.parametrize("rows", [1023, 1024, 1025])
def test_four_blocks_are_few(rows):
    assert fits_few_blocks(torch.empty(rows, VOCAB)) == (rows <= 1024)
