"""The losses against loops, their gradients, and what they reduce to."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.aggregation import sequence_mean_token_mean, token_sum
from ppo_ref.losses import policy_loss, surrogate_objective, value_loss
from tests import oracles
from tests.strategies import numbers, poisoned, token_tensors

MASK = torch.tensor([[True, True, False], [True, False, True]])
clip_ranges = st.sampled_from([0.2, 0, (0.1, 0.3), (0.5, 0.0)])
dual_clips = st.sampled_from([None, 1.5, 3])


def policy_inputs(tensors, mask):
    log_probs, old_log_probs, advantages = tensors
    return {
        "log_probs": log_probs,
        "old_log_probs": old_log_probs,
        "advantages": advantages,
        "response_mask": mask,
    }


def listed(tensors, mask):
    return zip(*(oracles.counted(tensor, mask) for tensor in tensors), strict=True)


@given(token_tensors(3), clip_ranges, dual_clips)
def test_policy_loss_is_the_mean_of_the_token_losses(batch, clip_range, dual_clip):
    low, high = clip_range if isinstance(clip_range, tuple) else (clip_range,) * 2
    losses, clipped, log_ratios = [], [], []
    for log_prob, old, advantage in listed(*batch):
        ratio = torch.tensor(log_prob - old).exp().item()
        bounds = (low, high, dual_clip)
        losses.append(oracles.policy_token_loss(ratio, advantage, *bounds))
        clipped.append(
            (advantage > 0 and ratio > 1 + high) or (advantage < 0 and ratio < 1 - low)
        )
        log_ratios.append(old - log_prob)
    result = policy_loss(
        **policy_inputs(*batch), clip_range=clip_range, dual_clip=dual_clip
    )
    assert_close(result.loss.item(), oracles.mean(losses), rtol=1e-6, atol=1e-6)
    assert_close(result.clip_fraction.item(), oracles.mean(clipped))
    assert_close(result.approx_kl.item(), oracles.mean(log_ratios))


@given(token_tensors(3), st.sampled_from([0, 0.3, 1, float("inf")]))
def test_value_loss_is_the_mean_of_the_token_losses(batch, reach):
    values, old_values, returns = batch[0]
    losses, clipped = [], []
    for value, old, target in listed(*batch):
        losses.append(oracles.value_token_loss(value, old, target, reach))
        clipped.append(losses[-1] > (value - target) ** 2 / 2)
    result = value_loss(
        values=values,
        old_values=old_values,
        returns=returns,
        response_mask=batch[1],
        value_clip_range=reach,
    )
    assert_close(result.loss.item(), oracles.mean(losses))
    assert_close(result.clip_fraction.item(), oracles.mean(clipped))


@given(token_tensors(3))
def test_surrogate_objective_is_the_mean_of_ratio_times_advantage(batch):
    terms = [
        torch.tensor(log_prob - old).exp().item() * advantage
        for log_prob, old, advantage in listed(*batch)
    ]
    objective = surrogate_objective(**policy_inputs(*batch)).item()
    assert_close(objective, oracles.mean(terms), rtol=1e-6, atol=1e-6)


@given(token_tensors(4), dual_clips)
def test_rollout_weights_multiply_the_clipped_losses(batch, dual_clip):
    (*tensors, x), mask = batch
    bare = policy_loss(**policy_inputs(tensors, mask), dual_clip=dual_clip)
    rows = listed((*tensors, x), mask)
    expected = [
        math.exp(weight)
        * oracles.policy_token_loss(math.exp(new - old), a, 0.2, 0.2, dual_clip)
        for new, old, a, weight in rows
    ]
    weighted = policy_loss(
        **policy_inputs(tensors, mask), dual_clip=dual_clip, rollout_weights=x.exp()
    )
    assert_close(weighted.loss.item(), oracles.mean(expected))
    assert weighted[1:] == bare[1:]


@given(token_tensors(3))
def test_a_huge_clip_range_leaves_the_surrogate_objective(batch):
    inputs = policy_inputs(*batch)
    unclipped = policy_loss(**inputs, clip_range=(1 - 1e-12, 1e12))
    assert_close(unclipped.loss, -surrogate_objective(**inputs))
    assert unclipped.clip_fraction == 0


@given(token_tensors(2))
def test_gradient_at_ratio_1_is_that_of_reinforce(batch):
    (log_probs, advantages), mask = batch
    log_probs = log_probs.requires_grad_()
    inputs = policy_inputs((log_probs, log_probs.detach(), advantages), mask)
    expected = torch.where(mask, -advantages, 0) / mask.sum()
    for loss in (policy_loss(**inputs).loss, -surrogate_objective(**inputs)):
        (gradient,) = torch.autograd.grad(loss, log_probs)
        assert_close(gradient, expected)


def test_clipped_tokens_have_exactly_no_gradient():
    log_probs = torch.tensor([[1.0, -1.0, 1.0, -1.0]], requires_grad=True)
    policy_loss(
        log_probs=log_probs,
        old_log_probs=torch.zeros(1, 4),
        advantages=torch.tensor([[1.0, -1.0, -1.0, 1.0]]),
        response_mask=torch.ones(1, 4, dtype=torch.bool),
    ).loss.backward()
    assert (log_probs.grad[0] == 0).tolist() == [True, True, False, False]


def test_dual_clip_stops_the_gradient_of_a_hopeless_token():
    log_probs = torch.tensor([[2.0, 2.0]], requires_grad=True)
    inputs = {
        "log_probs": log_probs,
        "old_log_probs": torch.zeros(1, 2),
        "advantages": torch.tensor([[-1.0, -2.0]]),
        "response_mask": torch.ones(1, 2, dtype=torch.bool),
    }
    bounded = policy_loss(**inputs, dual_clip=3).loss
    (gradient,) = torch.autograd.grad(bounded, log_probs)
    assert_close(bounded.item(), (3 * 1 + 3 * 2) / 2)
    assert not gradient.any()
    (gradient,) = torch.autograd.grad(policy_loss(**inputs).loss, log_probs)
    assert (gradient > 0).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_collapsed_actor_gives_finite_gradients(sign):
    log_probs = torch.tensor([[500.0, -500.0]], requires_grad=True)
    policy_loss(
        log_probs=log_probs,
        old_log_probs=torch.zeros(1, 2),
        advantages=torch.full((1, 2), float(sign)),
        response_mask=torch.ones(1, 2, dtype=torch.bool),
    ).loss.backward()
    assert log_probs.grad.isfinite().all()


@pytest.mark.parametrize("dual_clip", [None, 3.0])
def test_policy_gradients_are_those_of_the_formula(dual_clip):
    """Away from the kinks: log-ratios of 0, 0.1, 0.5, -0.1, -0.5 and 1.5 nats."""
    steps = torch.tensor([[0.0, 0.1, 0.5], [-0.1, -0.5, 1.5]], dtype=torch.float64)
    old = numbers(0, 2, 3)
    for sign in (1, -1):
        advantages = sign * (1 + numbers(1, 2, 3).abs())

        def loss(log_probs, advantages=advantages):
            inputs = policy_inputs((log_probs, old, advantages), MASK)
            return policy_loss(**inputs, dual_clip=dual_clip).loss

        assert torch.autograd.gradcheck(loss, (old + steps).requires_grad_())


def test_a_weight_scales_the_gradient_of_its_token_and_gets_none():
    log_probs = numbers(5, 2, 3).requires_grad_()
    weights = poisoned(torch.tensor([[0.0, 0.5, 9], [2, 9, 1]]), MASK).requires_grad_()
    inputs = policy_inputs((log_probs, log_probs.detach(), numbers(6, 2, 3)), MASK)
    (bare,) = torch.autograd.grad(policy_loss(**inputs).loss, log_probs)
    policy_loss(**inputs, rollout_weights=weights).loss.backward()
    assert_close(log_probs.grad[MASK], weights.detach()[MASK] * bare[MASK])
    assert not log_probs.grad[~MASK].any()
    assert weights.grad is None


def test_value_gradients_are_those_of_the_formula():
    old, returns = numbers(2, 2, 2, 3)

    def loss(values):
        return value_loss(
            values=values,
            old_values=old,
            returns=returns,
            response_mask=MASK,
            value_clip_range=0.3,
        ).loss

    steps = torch.tensor([[0.0, 0.1, 0.5], [-0.1, -0.5, 1.5]], dtype=torch.float64)
    assert torch.autograd.gradcheck(loss, (old + steps).requires_grad_())


def test_gradient_reaches_the_trained_model_alone_and_no_padding():
    tensors = [poisoned(x, MASK).requires_grad_() for x in numbers(3, 6, 2, 3)]
    log_probs, old_log_probs, advantages, values, old_values, returns = tensors
    loss = policy_loss(**policy_inputs(tensors[:3], MASK)).loss
    loss += surrogate_objective(**policy_inputs(tensors[:3], MASK))
    loss += value_loss(
        values=values,
        old_values=old_values,
        returns=returns,
        response_mask=MASK,
        value_clip_range=10.0,
    ).loss
    loss.backward()
    for trained in (log_probs, values):
        assert trained.grad.isfinite().all()
        assert not trained.grad[~MASK].any()
        assert trained.grad[MASK].any()
    for constant in (old_log_probs, advantages, old_values, returns):
        assert constant.grad is None


@pytest.mark.parametrize("aggregate", [token_sum, sequence_mean_token_mean])
def test_the_aggregation_is_the_callers(aggregate):
    inputs = policy_inputs(numbers(4, 3, 2, 3), MASK)
    log_probs, old, advantages = (inputs[name] for name in list(inputs)[:3])
    ratio = (log_probs - old).exp()
    losses = torch.maximum(-advantages * ratio, -advantages * ratio.clamp(0.8, 1.2))
    assert_close(
        policy_loss(**inputs, aggregate=aggregate).loss, aggregate(losses, MASK)
    )
    assert_close(
        surrogate_objective(**inputs, aggregate=aggregate),
        aggregate(ratio * advantages, MASK),
    )
