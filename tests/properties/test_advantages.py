"""TD residuals, returns, n-step advantages and GAE from their definitions."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import (
    gae,
    monte_carlo_returns,
    n_step_advantages,
    td_residuals,
)
from ppo_ref.examples import three_tokens, two_token_tree
from tests import oracles
from tests.strategies import numbers, token_batches, unit_interval


def judged(of_row, batch, *tensors):
    return oracles.over_rows(
        of_row,
        batch.response_mask,
        *tensors or (batch.token_level_rewards, batch.values),
        bootstrap_values=batch.bootstrap_values,
    )


@given(token_batches(), unit_interval)
def test_td_residual(batch, gamma):
    r"""\delta_t = r_t + \gamma V(s_{t+1}) - V(s_t)"""
    deltas = td_residuals(**batch._asdict(), gamma=gamma)
    assert_close(deltas, judged(oracles.td_residuals(gamma), batch))


@given(token_batches(), unit_interval, unit_interval)
def test_gae_recursion(batch, gamma, gae_lambda):
    r"""\hat A_t = \delta_t + \gamma \lambda \hat A_{t+1}"""
    advantages = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).advantages
    assert_close(advantages, judged(oracles.gae(gamma, gae_lambda), batch))


@given(token_batches(), unit_interval, unit_interval)
def test_gae_is_the_weighted_sum_of_the_residuals_ahead(batch, gamma, gae_lambda):
    r"""In a line: $R_t=V(s_t)+\sum_k(\gamma\lambda)^k\delta_{t+k}$,
    $(\gamma\lambda)^k$
    """
    advantages, returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    expected = judged(oracles.gae_as_sum(gamma, gae_lambda), batch)
    assert_close(advantages, expected)
    mask = batch.response_mask
    assert_close(returns[mask], (batch.values + expected)[mask])


def estimated(rewards, values, gamma=1.0, gae_lambda=1.0):
    """Residuals, advantages and returns of a row without padding."""
    inputs = {
        "token_level_rewards": rewards[None],
        "values": values[None],
        "response_mask": torch.ones(1, len(rewards), dtype=torch.bool),
        "gamma": gamma,
    }
    found = gae(**inputs, gae_lambda=gae_lambda)
    return td_residuals(**inputs)[0], found.advantages[0], found.returns[0]


@given(st.integers(1, 6), unit_interval, unit_interval, st.integers(0, 999))
def test_a_value_counts_in_two_residuals(time, gamma, gae_lambda, seed):
    r"""In a line: $(\gamma\lambda)^{k-1}$

    Nudged by 1, V(s_{t+k}) enters by the residual before it, times gamma, and by its
    own, less 1.
    """
    rewards, values = numbers(seed, 2, time)
    delta, advantages, _ = estimated(rewards, values, gamma, gae_lambda)
    for k in range(1, time):
        nudged = values.clone()
        nudged[k] += 1
        new_delta, new_advantages, _ = estimated(rewards, nudged, gamma, gae_lambda)
        assert_close((new_delta - delta)[k - 1].item(), float(gamma))
        assert_close((new_delta - delta)[k].item(), -1.0)
        before = gamma * (gamma * gae_lambda) ** (k - 1)
        own = (gamma * gae_lambda) ** k
        assert_close((new_advantages - advantages)[0].item(), float(before - own))


@given(unit_interval, unit_interval, st.integers(0, 999))
def test_the_last_advantage_is_its_residual(gamma, gae_lambda, seed):
    r"""In a line: $\delta_{T-1}=r_{T-1}-V(s_{T-1})$, $t=T-1$, $\hat A_2=\delta_2$,
    $\hat A_4=\delta_4$, $1-V$

    In an answer of T tokens; so with a score of 1, or 0, it is 1 - V, or -V. The last
    but one is its residual too where the last is 0.
    """
    for time in 3, 5, 6:
        rewards, values = numbers(seed, 2, time)
        delta, advantages, _ = estimated(rewards, values, gamma, gae_lambda)
        assert_close(delta[-1], rewards[-1] - values[-1])
        assert_close(advantages[-1], delta[-1])
        for score, expected in (1, 1 - values[-1]), (0, -values[-1]):
            rewards[-1] = score
            _, scored, _ = estimated(rewards, values, gamma, gae_lambda)
            assert_close(scored[-1], expected)
        rewards[-1] = values[-1]
        delta, advantages, _ = estimated(rewards, values, gamma, gae_lambda)
        assert advantages[-1] == 0
        assert_close(advantages[-2], delta[-2])


@given(st.integers(0, 999))
def test_residuals_that_add_up_to_an_advantage(seed):
    r"""In a line: $\delta_1+\delta_2$, $\delta_3+\delta_4+\delta_5$

    At gamma = lambda = 1, of three tokens and of six.
    """
    delta, advantages, _ = estimated(*numbers(seed, 2, 3))
    assert_close(advantages[0] - delta[0], delta[1] + delta[2])
    delta, advantages, _ = estimated(*numbers(seed, 2, 6))
    assert_close(advantages[3], delta[3] + delta[4] + delta[5])


@given(st.floats(0, 1), st.floats(0, 0.97), st.integers(0, 999))
def test_shares_of_the_residuals(gamma, gae_lambda, seed):
    r"""In a line: $\lambda^k$, $1/(1-\gamma\lambda)$

    Of the k-th step at lambda 1, and the sum of all weights of a long answer.
    """
    rewards, values = numbers(seed, 2, 6)
    delta, full, _ = estimated(rewards, values, gamma, 1.0)
    _, found, _ = estimated(rewards, values, gamma, gae_lambda)
    steps = [gamma**k * each for k, each in enumerate(delta)]
    assert_close(sum(steps), full[0])
    assert_close(sum(gae_lambda**k * step for k, step in enumerate(steps)), found[0])
    ones = torch.ones(1500, dtype=torch.float64)
    _, weights, _ = estimated(ones, 0 * ones, gamma, gae_lambda)
    # Every residual is 1 where no value is expected.
    assert_close(weights[0].item(), 1 / (1 - gamma * gae_lambda))


def test_a_wrong_value_after_a_good_token_punishes_it():
    r"""In a line: $\hat A_0=\delta_0<0$

    At lambda 0, of the answer 1, 1 in the tree of two tokens.
    """
    tree = two_token_tree()
    right = (tree.responses == 1).all(1)
    rewards, values = tree.token_level_rewards[right], tree.wrong_values[right]
    delta, advantages, _ = estimated(rewards[0], values[0], gae_lambda=0.0)
    assert advantages[0] == delta[0] < 0
    assert_close(delta[0], values[0, 1] - values[0, 0])


@given(token_batches(), unit_interval, unit_interval)
def test_return_is_advantage_plus_value(batch, gamma, gae_lambda):
    r"""\hat R_t = \hat A_t + V(s_t)"""
    advantages, returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    mask = batch.response_mask
    assert_close(returns[mask], advantages[mask] + batch.values[mask])
    assert not returns[~mask].any()
    assert not advantages[~mask].any()


@given(token_batches(), unit_interval)
def test_monte_carlo_return_is_the_discounted_sum_of_rewards(batch, gamma):
    inputs = batch._asdict()
    del inputs["values"]
    expected = judged(
        oracles.monte_carlo_returns(gamma), batch, batch.token_level_rewards
    )
    assert_close(monte_carlo_returns(**inputs, gamma=gamma), expected)


@given(token_batches(), unit_interval, st.integers(1, 12))
def test_n_step_advantage_is_its_formula(batch, gamma, steps):
    advantages = n_step_advantages(**batch._asdict(), gamma=gamma, steps=steps)
    assert_close(advantages, judged(oracles.n_step_advantages(gamma, steps), batch))


@given(token_batches(), unit_interval)
def test_gae_at_lambda_1_is_the_monte_carlo_return_less_the_value(batch, gamma):
    r"""In a line: $\hat A_t = G_t - V(s_t)$"""
    mask = batch.response_mask
    advantages, returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=1)
    expected = judged(
        oracles.monte_carlo_returns(gamma), batch, batch.token_level_rewards
    )
    assert_close(returns, expected)
    assert_close(advantages[mask], (expected - batch.values)[mask])


@given(token_batches(), unit_interval)
def test_gae_at_lambda_0_is_the_td_residual(batch, gamma):
    r"""In a line: $\hat A_t=\delta_t$, $A_t=\delta_t$"""
    advantages = gae(**batch._asdict(), gamma=gamma, gae_lambda=0).advantages
    assert_close(advantages, judged(oracles.td_residuals(gamma), batch))


@given(token_batches(), unit_interval, st.integers(9, 30))
def test_n_steps_beyond_the_end_are_monte_carlo(batch, gamma, steps):
    r"""In a line: $A^{(n)}=A^{(N)}$, $n>N$"""
    mask = batch.response_mask
    advantages = n_step_advantages(**batch._asdict(), gamma=gamma, steps=steps)
    received = judged(
        oracles.monte_carlo_returns(gamma), batch, batch.token_level_rewards
    )
    assert_close(advantages[mask], (received - batch.values)[mask])
    length = max(1, int(mask.sum(1).max()))
    last = n_step_advantages(**batch._asdict(), gamma=gamma, steps=length)
    assert_close(advantages, last)


@given(token_batches(), unit_interval, unit_interval)
def test_gae_is_the_mix_of_n_step_advantages(batch, gamma, gae_lambda):
    """Weights (1 - lambda) lambda**(n-1), the leftover on the last n."""
    last = batch.response_mask.shape[1]
    mix = gae_lambda ** (last - 1) * judged(
        oracles.n_step_advantages(gamma, last), batch
    )
    for n in range(1, last):
        weight = (1 - gae_lambda) * gae_lambda ** (n - 1)
        mix += weight * judged(oracles.n_step_advantages(gamma, n), batch)
    advantages = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).advantages
    assert_close(advantages, mix)


@given(token_batches())
def test_residuals_telescope_without_discount(batch):
    """Their sum from t on: rewards received plus the end's value, less V(s_t)."""
    deltas = td_residuals(**batch._asdict())
    rewards = batch.token_level_rewards.nan_to_num()
    for row, counts in enumerate(batch.response_mask):
        for t in counts.nonzero().flatten().tolist():
            received = rewards[row, t:].sum() + batch.bootstrap_values[row]
            assert_close(deltas[row, t:].sum(), received - batch.values[row, t])


def test_advantages_have_no_gradient():
    values = numbers(0, 2, 3).requires_grad_()
    mask = torch.ones(2, 3, dtype=torch.bool)
    rewards = numbers(1, 2, 3).requires_grad_()
    estimate = gae(token_level_rewards=rewards, values=values, response_mask=mask)
    assert not estimate.advantages.requires_grad
    assert not estimate.returns.requires_grad


@pytest.mark.parametrize(
    ("function", "discounts"),
    [
        (gae, {"gamma": 1.0, "gae_lambda": 1.0}),
        (td_residuals, {"gamma": 1.0}),
        (n_step_advantages, {"gamma": 1.0, "steps": 2}),
        (monte_carlo_returns, {"gamma": 1.0}),
    ],
)
def test_nothing_is_discounted_unless_asked(function, discounts):
    batch = three_tokens()._asdict()
    if function is monte_carlo_returns:
        del batch["values"]
    steps = {name: x for name, x in discounts.items() if name == "steps"}
    assert_close(function(**batch, **steps), function(**batch, **discounts))
