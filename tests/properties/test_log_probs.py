"""Log-probs and entropy against a loop over the vocabulary."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

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
