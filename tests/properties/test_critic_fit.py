"""What the critic is fitted to, how hard it is pulled, and where it comes to rest."""

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae, monte_carlo_returns, td_residuals
from ppo_ref.losses import value_loss
from tests import oracles
from tests.properties.test_excesses import batch_of, exact_values, states
from tests.properties.test_expected_return import (
    expected_return,
    prob_from,
    rows,
    trees,
)
from tests.properties.test_residual_bias import mean_after
from tests.strategies import numbers, token_batches, token_tensors, unit_interval

reaches = st.sampled_from([0, 0.3, 1, float("inf")])


def value_gradient(values, old_values, returns, mask, reach):
    values = values.detach().requires_grad_()
    loss = value_loss(
        values=values,
        old_values=old_values,
        returns=returns,
        response_mask=mask,
        value_clip_range=reach,
    ).loss
    return loss.item(), torch.autograd.grad(loss, values)[0]


@given(token_tensors(3), reaches)
def test_value_loss(batch, reach):
    r"""\begin{aligned}
    \bar V_t &= \mathrm{clip}(V_t,\ V^{\mathrm{old}}_t \pm c) \\
    L &= \frac{1}{2N} \sum_t \max\bigl((V_t - R_t)^2, (\bar V_t - R_t)^2\bigr)
    \end{aligned}

    Over the N tokens that count, whatever the padding holds.
    """
    columns = [oracles.counted(tensor, batch[1]) for tensor in batch[0]]
    losses = [
        max((v - r) ** 2, (min(max(v, old - reach), old + reach) - r) ** 2)
        for v, old, r in zip(*columns, strict=True)
    ]
    loss, _ = value_gradient(*batch[0], batch[1], reach)
    assert loss == pytest.approx(math.fsum(losses) / (2 * len(losses)))


@given(token_tensors(3), reaches)
def test_value_clip_gradient(batch, reach):
    r"""N \frac{\partial L}{\partial V_t} = \begin{cases}
    0 & |V_t - R_t| < |\bar V_t - R_t| \\
    V_t - R_t & |V_t - R_t| \ge |\bar V_t - R_t|
    \end{cases}

    Only a value outside the range, on the side of its target, has none: the clip
    never pulls back, and no loss falls below the plain one.
    """
    _, gradient = value_gradient(*batch[0], batch[1], reach)
    found = oracles.counted(gradient, batch[1])
    columns = [oracles.counted(tensor, batch[1]) for tensor in batch[0]]
    for pull, v, old, r in zip(found, *columns, strict=True):
        near = min(max(v, old - reach), old + reach)
        stopped = abs(v - r) < abs(near - r)
        if stopped:
            assert abs(v - old) > reach and (v - old) * (r - old) > 0
        assert pull * len(found) == pytest.approx(0 if stopped else v - r)
    assert (gradient[~batch[1]] == 0).all()


@given(trees(), unit_interval)
def test_regression_mean(tree, gamma):
    r"""\begin{aligned}
    \arg\min_v \mathbb{E}\bigl[(G_t - v)^2 \mid s_t\bigr] &= \mathbb{E}[G_t \mid s_t] \\
    &= V^\pi(s_t)
    \end{aligned}

    The mean error rises by the square of the distance from there.
    """
    rewards = rows(tree, lambda written: tree.rewards[written])
    returns = monte_carlo_returns(
        token_level_rewards=rewards, response_mask=~rewards.isnan(), gamma=gamma
    )
    for state in states(tree):
        best = expected_return(tree, gamma, state)
        ahead = [
            (prob_from(tree, state, answer), returns[row, len(state)].item())
            for row, answer in enumerate(tree.answers)
            if answer[: len(state)] == state
        ]

        def error(v, ahead=ahead):
            return math.fsum(p * (g - v) ** 2 for p, g in ahead)

        for off in (-1.0, 0.1):
            assert error(best + off) == pytest.approx(error(best) + off**2, abs=1e-9)


@given(token_batches(), unit_interval, unit_interval, st.integers(0, 999))
def test_value_gradient(batch, gamma, gae_lambda, seed):
    r"""\begin{aligned}
    \nabla_\phi L &= -\frac{1}{N} \sum_t d_t\, \nabla_\phi V_\phi(s_t) \\
    d_t &= \hat A_t - \bigl(V_\phi(s_t) - V_{\mathrm{old}}(s_t)\bigr)
    \end{aligned}

    For a critic linear in three parameters, before and after it has moved.
    """
    mask = batch.response_mask
    if not mask.any():
        return
    features = numbers(seed, *mask.shape, 3)
    old_weights, moved = numbers(seed + 1, 2, 3)
    old = features @ old_weights
    rewards = torch.where(mask, batch.token_level_rewards, 0)
    inputs = batch._asdict() | {"values": old}
    returns = gae(**inputs, gamma=gamma, gae_lambda=gae_lambda).returns
    advantages = oracles.over_rows(
        oracles.gae(gamma, gae_lambda),
        mask,
        rewards,
        old,
        bootstrap_values=batch.bootstrap_values,
    )
    for weights in (old_weights, moved):
        now = weights.clone().requires_grad_()
        loss = value_loss(
            values=features @ now,
            old_values=old,
            returns=returns,
            response_mask=mask,
            value_clip_range=float("inf"),
        ).loss
        (found,) = torch.autograd.grad(loss, now)
        pulls = advantages - features @ (weights - old_weights)
        wanted = [
            -math.fsum((pulls * features[..., k])[mask].tolist()) / mask.sum().item()
            for k in range(3)
        ]
        assert_close(found, torch.tensor(wanted, dtype=torch.float64))


@given(trees(), unit_interval, st.randoms())
def test_mean_residual(tree, gamma, source: random.Random):
    r"""V = V^\pi \iff \mathbb{E}[\delta_t \mid s_t] = 0 \quad \forall s_t

    One way on the exact values; the other at the last state that a wrong critic errs
    in: nothing after it can make up for the error.
    """
    exact = exact_values(tree, gamma)
    errors = {state: source.choice([0.0, 0.5, -2.0]) for state in states(tree)}
    wrong = exact | {state: exact[state] + error for state, error in errors.items()}
    for values, off in (exact, {}), (wrong, errors):
        deltas = td_residuals(**batch_of(tree, values), gamma=gamma)
        means = {s: mean_after(tree, s, deltas[:, len(s)]) for s in states(tree)}
        err = [state for state in states(tree) if off.get(state)]
        if not err:
            assert all(mean == pytest.approx(0, abs=1e-9) for mean in means.values())
        else:
            last = max(err, key=len)
            assert means[last] == pytest.approx(-off[last], abs=1e-9)


@given(token_tensors(2), reaches)
def test_before_the_critic_has_moved_the_clip_does_nothing(batch, reach):
    (values, returns), mask = batch
    pairs = zip(*(oracles.counted(x, mask) for x in batch[0]), strict=True)
    errors = [v - r for v, r in pairs]
    loss, gradient = value_gradient(values, values, returns, mask, reach)
    assert 2 * loss == pytest.approx(oracles.mean([error**2 for error in errors]))
    pulls = [len(errors) * pull for pull in oracles.counted(gradient, mask)]
    assert pulls == pytest.approx(errors)
