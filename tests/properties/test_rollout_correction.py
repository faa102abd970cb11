"""Weights and rejections against loops, and the expectations they are made for."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.aggregation import token_sum
from ppo_ref.examples import two_token_tree
from ppo_ref.losses import policy_loss
from ppo_ref.rollout_correction import (
    accepted_sequences,
    accepted_tokens,
    sequence_weights,
    token_weights,
)
from tests import oracles
from tests.strategies import numbers, token_tensors

MASK = torch.tensor([[True, False, True, True], [True, True, False, False]])
FUNCTIONS = [token_weights, sequence_weights, accepted_tokens, accepted_sequences]
caps = st.sampled_from([2.0, 1, 0.3, math.inf])
all_bounds = st.sampled_from([(0.5, 2.0), (0, 1.5), (0.9, math.inf), (3, 3)])


def inputs(old_log_probs, rollout_log_probs, mask):
    return {
        "old_log_probs": old_log_probs,
        "rollout_log_probs": rollout_log_probs,
        "response_mask": mask,
    }


def per_row(of_ratios, batch):
    """A function from a row's log-ratios to its tokens', over the rows."""

    def of_row(old, rollout, _):
        return of_ratios([o - r for o, r in zip(old, rollout, strict=True)])

    return oracles.over_rows(of_row, batch[1], *batch[0])


@given(token_tensors(2, least=0), caps)
def test_token_weights_are_truncated_ratios(batch, cap):
    expected = per_row(lambda row: [min(math.exp(x), cap) for x in row], batch)
    assert_close(token_weights(**inputs(*batch[0], batch[1]), cap=cap), expected)


@given(token_tensors(2, least=0), caps)
def test_sequence_weights_are_truncated_products(batch, cap):
    def of_ratios(row):
        return [min(math.prod(math.exp(x) for x in row), cap)] * len(row)

    weights = sequence_weights(**inputs(*batch[0], batch[1]), cap=cap)
    assert_close(weights, per_row(of_ratios, batch))


@given(token_tensors(2, least=0), all_bounds)
def test_accepted_tokens_have_a_ratio_within_bounds(batch, bounds):
    low, high = bounds
    expected = per_row(lambda row: [low <= math.exp(x) <= high for x in row], batch)
    accepted = accepted_tokens(**inputs(*batch[0], batch[1]), bounds=bounds)
    assert torch.equal(accepted, expected.bool())


@given(token_tensors(2, least=0), all_bounds)
def test_accepted_sequences_have_a_product_within_bounds(batch, bounds):
    low, high = bounds

    def of_ratios(row):
        return [low <= math.prod(math.exp(x) for x in row) <= high] * len(row)

    accepted = accepted_sequences(**inputs(*batch[0], batch[1]), bounds=bounds)
    assert torch.equal(accepted, per_row(of_ratios, batch).bool())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_carries_gradient(function):
    old, rollout = (x.requires_grad_() for x in numbers(2, 2, 2, 4))
    assert not function(**inputs(old, rollout, MASK)).requires_grad


@pytest.mark.parametrize("function", [token_weights, sequence_weights])
def test_a_ratio_beyond_every_float_stays_finite(function):
    far, near = torch.full((2, 4), 500.0), torch.zeros(2, 4)
    weights = function(**inputs(far, near, MASK), cap=math.inf)
    assert_close(weights[MASK], torch.full((5,), math.exp(20)))
    weights = function(**inputs(near, far, MASK), cap=math.inf)
    assert_close(weights[MASK], torch.full((5,), math.exp(-20)))


def test_a_row_adds_its_log_ratios_before_any_is_clamped():
    old, rollout = torch.tensor([[0.0, -30.0]]), torch.tensor([[-30.0, 0.0]])
    weights = sequence_weights(**inputs(old, rollout, torch.ones(1, 2).bool()))
    assert_close(weights, torch.ones(1, 2))


def tree_under(engine):
    """The tree's four responses, and each one's probability where a token 1 is."""
    tree = two_token_tree()
    probs = torch.where(tree.responses == 1, engine, 1 - engine)
    return tree, probs


def test_sequence_weights_restore_the_trainers_expectation():
    """Sampled by the engine and weighed, the mean score is the trainer's."""
    tree, engine = tree_under(0.8)
    scores = tree.token_level_rewards.sum(1)
    trainer = inputs(tree.actor_probs.log(), engine.log(), tree.response_mask)
    for cap, expected in ((math.inf, 0.25), (1.0, 0.25), (0.3, 0.64 * 0.3)):
        weights = sequence_weights(**trainer, cap=cap)[:, 0]
        assert_close((engine.prod(1) * weights * scores).sum().item(), expected)
    assert_close((engine.prod(1) * scores).sum().item(), 0.64)


def test_weighted_loss_has_the_trainers_gradient_and_the_bare_loss_has_not():
    """One token of five kinds; the engine's rows are weighed by their frequency."""
    logits, engine = numbers(3, 5).requires_grad_(), numbers(4, 5).softmax(0)
    advantages = numbers(5, 5)
    log_probs = logits.log_softmax(0)
    (exact,) = torch.autograd.grad(
        (log_probs.exp() * advantages).sum(), logits, retain_graph=True
    )
    row = inputs(
        log_probs.detach()[:, None], engine.log()[:, None], torch.ones(5, 1) > 0
    )
    weights = token_weights(**row, cap=math.inf)

    def gradient(rollout_weights):
        loss = policy_loss(
            log_probs=log_probs[:, None],
            old_log_probs=row["old_log_probs"],
            advantages=advantages[:, None],
            response_mask=row["response_mask"],
            rollout_weights=rollout_weights,
            aggregate=lambda losses, mask: token_sum(engine[:, None] * losses, mask),
        ).loss
        return -torch.autograd.grad(loss, logits, retain_graph=True)[0]

    assert_close(gradient(weights), exact)
    assert (gradient(None) - exact).abs().max() > 0.01


@pytest.mark.parametrize("bounds", [(1.0, 2.0), (0.5, 1.0), (1, 1)])
def test_a_ratio_at_a_bound_is_within(bounds):
    same = inputs(torch.zeros(2, 4), torch.zeros(2, 4), MASK)
    for function in (accepted_tokens, accepted_sequences):
        assert torch.equal(function(**same, bounds=bounds), MASK)
