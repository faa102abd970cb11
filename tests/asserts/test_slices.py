"""Which tokens values and log-probs have read: a wrong slice is named."""

import re

import pytest
import torch
from torch import Tensor

from ppo_ref.asserts.slices import (
    assert_log_probs_of_tokens,
    assert_values_before_tokens,
)
from tests.asserts.models import (
    DTYPES,
    MASK,
    VOCAB,
    Network,
    P,
    T,
    log_probs,
    sequences,
    told,
    values,
)

RIGHT, LATE, EARLY = slice(-T - 1, -1), slice(-T, None), slice(-T - 2, -2)
LATER, EARLIER = slice(-T + 1, None), slice(-T - 3, -3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(4))
def test_the_right_slices_pass_in_every_precision(dtype, seed):
    ids = sequences(seed)
    assert_values_before_tokens(values(dtype, RIGHT), ids, MASK)
    assert_log_probs_of_tokens(log_probs(dtype, RIGHT, LATE), ids, MASK)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("cut", "text"),
    [
        (LATE, r"values\[0, 0\] moved when token 0 was changed: .* is 1 position late"),
        (
            EARLY,
            r"values\[0, 1\] did not move when token 0 was changed, values\[0, 2\] "
            r"did: the slice is 1 position early; cut \[:, -T-1:-1\]",
        ),
        (EARLIER, r"values\[0, 1\] did not move .* the slice is 2 positions early"),
    ],
)
def test_a_wrong_slice_of_the_critic_is_named(dtype, cut, text):
    if cut is EARLIER:  # needs a prompt that long
        ids = torch.cat([sequences()[:, :1], sequences()], 1)
    else:
        ids = sequences()
    with pytest.raises(AssertionError) as error:
        assert_values_before_tokens(values(dtype, cut), ids, MASK)
    assert re.match(text, told(error))


def test_the_remedy_mends_it():
    for cut in (LATE, EARLY):
        with pytest.raises(AssertionError, match=r"cut\s+\[:, -T-1:-1\]"):
            assert_values_before_tokens(values(torch.float32, cut), sequences(), MASK)
    remedied = values(torch.float32, slice(-T - 1, -1))
    assert_values_before_tokens(remedied, sequences(), MASK)


def test_a_model_that_looks_ahead_is_named():
    of = values(torch.float32, slice(None))

    def both_ways(ids: Tensor) -> Tensor:
        return (of(ids) + of(ids.flip(1)).flip(1))[:, RIGHT]

    with pytest.raises(AssertionError) as error:
        assert_values_before_tokens(both_ways, sequences(), MASK)
    assert "the model looks ahead: give it a causal attention mask" in told(error)


def test_a_head_of_zeros_is_not_passed():
    of = values(torch.float32, RIGHT)
    with pytest.raises(AssertionError) as error:
        assert_values_before_tokens(lambda ids: 0 * of(ids), sequences(), MASK)
    assert told(error).startswith("none of values moved, whichever token was changed")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("cut", "labels", "text"),
    [
        (EARLY, LATE, "the logits are cut 1 position early; take [:, -T-1:-1]"),
        (RIGHT, RIGHT, "the ids are gathered 1 position early; take those of [:, -T:]"),
    ],
)
def test_a_wrong_slice_of_the_actor_is_named(dtype, cut, labels, text):
    with pytest.raises(AssertionError) as error:
        assert_log_probs_of_tokens(log_probs(dtype, cut, labels), sequences(), MASK)
    assert told(error).endswith(text)


def test_the_log_prob_of_the_next_token_is_named():
    def next_one(ids: Tensor) -> Tensor:
        longer = torch.cat([ids, ids[:, :1]], 1)
        return log_probs(torch.float32, RIGHT, LATE)(longer)

    with pytest.raises(AssertionError) as error:
        assert_log_probs_of_tokens(next_one, sequences(), MASK)
    assert told(error).endswith(
        "the ids are gathered 1 position late; take those of [:, -T:]"
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_logits_cut_late_are_seen_by_the_sum_alone(dtype):
    late = log_probs(dtype, LATE, LATE)
    assert_log_probs_of_tokens(late, sequences(), MASK)
    right = log_probs(dtype, RIGHT, LATE)
    assert_log_probs_of_tokens(right, sequences(), MASK, vocab_size=VOCAB)
    with pytest.raises(AssertionError) as error:
        assert_log_probs_of_tokens(late, sequences(), MASK, vocab_size=VOCAB)
    assert told(error).startswith("over all ids, the probabilities of token[0, 0] sum")


def test_only_what_counts_is_judged():
    of = values(torch.float32, RIGHT)

    def noisy_padding(ids: Tensor) -> Tensor:
        return torch.where(MASK, of(ids), ids.sum().float())

    assert_values_before_tokens(noisy_padding, sequences(), MASK)


def test_the_model_is_left_as_it_was_and_dropout_does_not_disturb():
    critic = Network(1, torch.float32, dropout=0.5)
    critic(sequences()).sum().backward()
    grads = [p.grad.clone() for p in critic.parameters()]
    random = torch.get_rng_state()
    assert_values_before_tokens(
        lambda ids: critic(ids)[..., 0][:, RIGHT], sequences(), MASK
    )
    assert critic.training
    assert torch.equal(torch.get_rng_state(), random)
    for parameter, grad in zip(critic.parameters(), grads, strict=True):
        assert torch.equal(parameter.grad, grad)


def test_what_gives_two_answers_is_refused():
    calls = []

    def drifting(ids: Tensor) -> Tensor:
        calls.append(0)
        return ids[:, RIGHT].float() + len(calls)

    text = "values must give the same numbers for the same sequences, they differ"
    with pytest.raises(ValueError, match=text):
        assert_values_before_tokens(drifting, sequences(), MASK)


def test_what_is_passed_wrongly_is_refused():
    of = values(torch.float32, slice(-T, -1))
    text = r"values must return .* = \[2, 6\], got float32 of shape \[2, 5\]"
    with pytest.raises(TypeError, match=text):
        assert_values_before_tokens(of, sequences(), MASK)
    text = "assert_values_before_tokens: values must be a function from sequences to"
    with pytest.raises(TypeError, match=text):
        assert_values_before_tokens(torch.zeros(2, 6), sequences(), MASK)
    same = torch.ones(2, P + T, dtype=torch.long)
    with pytest.raises(ValueError, match="at least 2 different ids, got 1"):
        assert_values_before_tokens(values(torch.float32, RIGHT), same, MASK)


def test_the_calls_are_as_many_as_said():
    calls = []

    def counted(ids: Tensor) -> Tensor:
        calls.append(ids)
        return values(torch.float32, RIGHT)(ids)

    assert_values_before_tokens(counted, sequences(), MASK, probes=3)
    assert len(calls) == 3 + 2
    changed = [(ids != sequences()).nonzero()[:, 1].unique().tolist() for ids in calls]
    assert changed == [[], [], [P], [P + 2], [P + 5]]
    assert not any((ids[:, P:] == 0)[MASK].any() for ids in calls)
