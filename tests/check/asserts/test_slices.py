"""Slices of values and log-probs: a wrong one is named."""

import re

import pytest
import torch
from torch import Tensor

from ppo_ref.check.asserts.slices import (
    assert_log_probs_of_tokens,
    assert_values_before_tokens,
)
from tests.check.asserts.models import (
    DTYPES,
    EARLY,
    LATE,
    MASK,
    RIGHT,
    VOCAB,
    Network,
    P,
    T,
    fault,
    log_probs,
    sequences,
    values,
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_right_slices_pass_in_every_precision(dtype):
    ids = sequences()
    assert_values_before_tokens(values(dtype, RIGHT), ids, MASK)
    assert_log_probs_of_tokens(log_probs(dtype, RIGHT), ids, MASK)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("cut", "text"),
    [
        (
            LATE,
            r"values\[0, 0\] moved when token 0 was changed: the slice is 1 position "
            r"late; cut \[:, -T-1:-1\]",
        ),
        (
            EARLY,
            r"values\[0, 1\] did not move when token 0 was changed, values\[0, 2\] "
            r"did: the slice is 1 position early; cut \[:, -T-1:-1\]",
        ),
    ],
)
def test_a_wrong_slice_of_the_critic_is_named(dtype, cut, text):
    said = fault(assert_values_before_tokens, values(dtype, cut), sequences(), MASK)
    assert re.match(text, said)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("cut", "labels", "text"),
    [
        (EARLY, LATE, "the logits are cut 1 position early; take [:, -T-1:-1]"),
        (RIGHT, RIGHT, "the ids are gathered 1 position early; take those of [:, -T:]"),
    ],
)
def test_a_wrong_slice_of_the_actor_is_named(dtype, cut, labels, text):
    of = log_probs(dtype, cut, labels)
    assert fault(assert_log_probs_of_tokens, of, sequences(), MASK).endswith(text)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_logits_cut_late_are_seen_by_the_sum_alone(dtype):
    late, right = log_probs(dtype, LATE), log_probs(dtype, RIGHT)
    assert_log_probs_of_tokens(late, sequences(), MASK)
    assert_log_probs_of_tokens(right, sequences(), MASK, vocab_size=VOCAB)
    given = late, sequences(), MASK
    said = fault(assert_log_probs_of_tokens, *given, vocab_size=VOCAB)
    assert said.startswith("over all ids, the probabilities of token[0, 0] sum")


@pytest.mark.parametrize(("probes", "tokens"), [(1, [0]), (2, [0, 5]), (3, [0, 2, 5])])
def test_the_tokens_that_are_changed_lie_all_over_the_response(probes, tokens):
    read, ids = values(torch.float32, RIGHT), sequences()
    changed = set()

    def reader(given: Tensor) -> Tensor:
        changed.update((given != ids).any(0).nonzero().flatten().tolist())
        return read(given)

    assert_values_before_tokens(reader, ids, MASK, probes=probes)
    assert changed == {P + token for token in tokens}


def test_a_token_that_is_read_ever_so_little_is_named():
    read = values(torch.float64, RIGHT)

    def leaky(ids: Tensor) -> Tensor:
        return read(ids) + 1e-9 * ids[:, LATE]

    text = fault(assert_values_before_tokens, leaky, sequences(), MASK)
    assert text.startswith("values[0, 0] moved when token 0 was changed")
    assert_values_before_tokens(leaky, sequences(), MASK, tolerance=1e-7)


def test_probabilities_that_sum_to_1_only_over_rows_are_named():
    read = log_probs(torch.float32, RIGHT)
    shares = torch.tensor([[1.5], [0.5]]).log()
    text = fault(
        assert_log_probs_of_tokens,
        lambda ids: read(ids) + shares,
        sequences(),
        MASK,
        vocab_size=VOCAB,
    )
    assert "the probabilities of token[0, 0] sum to 1.50 instead of 1" in text


def test_a_model_that_looks_ahead_and_one_that_reads_nothing():
    of, ids = values(torch.float32, slice(None)), sequences()

    def both_ways(ids: Tensor) -> Tensor:
        return (of(ids) + of(ids.flip(1)).flip(1))[:, RIGHT]

    said = fault(assert_values_before_tokens, both_ways, ids, MASK)
    assert said.endswith("the model looks ahead: give it a causal attention mask")
    said = fault(
        assert_values_before_tokens, lambda ids: 0 * of(ids)[:, RIGHT], ids, MASK
    )
    assert said.startswith("none of values moved, whichever token was changed")


def test_the_model_is_left_as_it_was_and_dropout_does_not_disturb():
    critic = Network(1, torch.float32, dropout=0.5)
    critic(sequences()).sum().backward()
    grads = [p.grad.clone() for p in critic.parameters()]
    random = torch.get_rng_state()
    assert_values_before_tokens(
        lambda ids: critic(ids)[..., 0][:, RIGHT], sequences(), MASK
    )
    assert critic.training and torch.equal(torch.get_rng_state(), random)
    for parameter, grad in zip(critic.parameters(), grads, strict=True):
        assert torch.equal(parameter.grad, grad)


def test_what_is_passed_wrongly_is_refused():
    calls = []

    def drifting(ids: Tensor) -> Tensor:
        calls.append(0)
        return ids[:, RIGHT].float() + len(calls)

    text = "values must give the same numbers for the same sequences, they differ"
    with pytest.raises(ValueError, match=text):
        assert_values_before_tokens(drifting, sequences(), MASK)
    of = values(torch.float32, slice(-T, -1))
    text = r"values must return .* = \[2, 6\] like .*, got float32 of shape \[2, 5\]"
    with pytest.raises(TypeError, match=text):
        assert_values_before_tokens(of, sequences(), MASK)
    same = torch.ones(2, P + T, dtype=torch.long)
    with pytest.raises(ValueError, match="at least 2 different ids, got 1"):
        assert_values_before_tokens(values(torch.float32, RIGHT), same, MASK)
