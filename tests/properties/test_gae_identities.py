"""GAE beside loops: the identities of the pages, what it never touches, float32."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.advantages import gae, monte_carlo_returns, td_residuals
from ppo_ref.alignment import slot_after_end
from ppo_ref.kl import kl_k1
from ppo_ref.rewards import token_level_rewards, token_level_scores
from ppo_ref.trace import trace
from tests.strategies import (
    full_row_masks,
    numbers,
    poisoned,
    token_batches,
    unit_interval,
)


def near(numbers):
    return pytest.approx(numbers, abs=1e-12)


def listed(batch, *columns):
    """The tokens that count of each row: rewards, values, columns; the value behind."""
    tensors = (batch.token_level_rewards, batch.values, *columns)
    for row, mask in enumerate(batch.response_mask):
        ends = batch.bootstrap_values[row].item()
        yield *(x[row][mask].tolist() for x in tensors), ends


def received(batch, gamma):
    inputs = batch._asdict()
    del inputs["values"]
    return monte_carlo_returns(**inputs, gamma=gamma)


def judged(of_row, batch):
    return loops.over_rows(
        of_row,
        batch.response_mask,
        batch.token_level_rewards,
        batch.values,
        bootstrap_values=batch.bootstrap_values,
    )


def assert_as_looped(batch, gamma=1.0, gae_lambda=1.0):
    """TD errors, advantages and returns are those of the recursion."""
    inputs = batch._asdict() | {"gamma": gamma}
    deltas = judged(partial(loops.td_residuals, gamma=gamma), batch)
    assert_close(td_residuals(**inputs), deltas)
    advantages = judged(partial(loops.gae, gamma=gamma, gae_lambda=gae_lambda), batch)
    returns = torch.where(batch.response_mask, advantages + batch.values, 0)
    found = gae(**inputs, gae_lambda=gae_lambda)
    assert_close(tuple(found), (advantages, returns))


@given(token_batches(), unit_interval)
def test_td_residual(batch, gamma):
    r"""\delta_t = r_t + \gamma V(s_{t+1}) - V(s_t)"""
    assert_as_looped(batch, gamma)


@given(token_batches(), unit_interval, unit_interval)
def test_three_rows(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \delta_t &= r_t + \gamma V(s_{t+1}) - V(s_t) \\
    \hat A_t &= \delta_t + \gamma\lambda\,\hat A_{t+1} \\
    R_t &= \hat A_t + V(s_t)
    \end{aligned}
    """
    assert_as_looped(batch, gamma, gae_lambda)


@given(token_batches(), unit_interval, unit_interval)
def test_return_recursion(batch, gamma, gae_lambda):
    r"""R_t = r_t + \gamma\bigl((1-\lambda)V(s_{t+1}) + \lambda R_{t+1}\bigr)

    At lambda 1 it is what was received, whatever the values are.
    """
    returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).returns
    for r, V, R, value in listed(batch, returns):
        expected = value
        for t in reversed(range(len(r))):
            mixed = (1 - gae_lambda) * value + gae_lambda * expected
            expected, value = r[t] + gamma * mixed, V[t]
            assert R[t] == near(expected)
    full = gae(**batch._asdict(), gamma=gamma, gae_lambda=1).returns
    assert_close(full, received(batch, gamma))


@given(token_batches(), unit_interval, unit_interval)
def test_factor_from_rows(batch, gamma, gae_lambda):
    r"""\gamma\lambda = \frac{\hat A_t - \delta_t}{\hat A_{t+1}}"""
    deltas = td_residuals(**batch._asdict(), gamma=gamma)
    found = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    for _, _, delta, A, _ in listed(batch, deltas, found.advantages):
        for t, later in enumerate(A[1:]):
            if abs(later) > 1e-3:
                factor = (A[t] - delta[t]) / later
                assert factor == pytest.approx(gamma * gae_lambda, abs=1e-9)


@given(token_batches(), unit_interval, unit_interval)
def test_gae_over_counted_tokens(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \delta_t &= r_t + \gamma V(s_n) - V(s_t) \\
    \hat A_t &= \delta_t + \gamma\lambda\,\hat A_n
    \end{aligned}

    n is the next slot that counts; after the last one V is the bootstrap and A is 0.
    """
    assert_as_looped(batch, gamma, gae_lambda)


def discounted(numbers, gamma):
    return math.fsum(gamma**k * x for k, x in enumerate(numbers))


def cut_targets(r, V, end, t, gamma):
    """All targets of token t by loops: cut after 1, 2, ... tokens."""
    states = [*V, end]
    return [
        math.fsum(gamma**k * x for k, x in enumerate(r[t : t + n]))
        + gamma**n * states[t + n]
        for n in range(1, len(r) - t + 1)
    ]


def mixed(cuts, gae_lambda):
    """Weights (1 - lambda) lambda**(n-1), the leftover on the last."""
    *parts, last = cuts
    parts = [(1 - gae_lambda) * gae_lambda**n * x for n, x in enumerate(parts)]
    return math.fsum([*parts, gae_lambda ** len(parts) * last])


@given(token_batches(), unit_interval, st.integers(1, 12))
def test_cut_target(batch, gamma, steps):
    r"""\hat G_t^{(n)} = r_t + \dots + \gamma^{n-1} r_{t+n-1} + \gamma^n V(s_{t+n})"""
    deltas = td_residuals(**batch._asdict(), gamma=gamma)
    for r, V, delta, end in listed(batch, deltas):
        for t in range(len(r)):
            target = cut_targets(r, V, end, t, gamma)[:steps][-1]
            advantage = discounted(delta[t : t + steps], gamma)
            assert advantage + V[t] == near(target)


@given(token_batches(), unit_interval, unit_interval)
def test_mixture_of_cuts(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    R_t &= (1-\lambda) \sum_{n=1}^{N-1} \lambda^{n-1} \hat G_t^{(n)} \\
    &\quad + \lambda^{N-1} \hat G_t^{(N)}
    \end{aligned}"""
    returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).returns
    for r, V, R, end in listed(batch, returns):
        for t in range(len(r)):
            assert R[t] == near(mixed(cut_targets(r, V, end, t, gamma), gae_lambda))


@given(token_batches(), unit_interval, unit_interval)
def test_mix_of_n_steps(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \hat A_t ={}& (1-\lambda)\sum_{n=1}^{N-1} \lambda^{n-1} \hat A_t^{(n)} \\
    &+ \lambda^{N-1} \hat A_t^{(N)}
    \end{aligned}
    """
    found = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    for r, V, A, end in listed(batch, found.advantages):
        for t, advantage in enumerate(A):
            targets = cut_targets(r, V, end, t, gamma)
            parts = [target - V[t] for target in targets]
            assert advantage == near(mixed(parts, gae_lambda))


@given(token_batches(), unit_interval)
def test_residuals_telescope(batch, gamma):
    r"""\sum_{k\ge 0}\gamma^k\delta_{t+k} = G_t - V(s_t)

    For any V; after a cut, G_t includes the value there.
    """
    deltas = td_residuals(**batch._asdict(), gamma=gamma)
    for r, V, delta, end in listed(batch, deltas):
        earned = loops.monte_carlo_returns(r, end, gamma=gamma)
        for t, value in enumerate(V):
            assert discounted(delta[t:], gamma) == near(earned[t] - value)


@given(token_batches(), unit_interval)
def test_return_minus_value_in_steps(batch, gamma):
    r"""G_t - V(s_t) = \sum_{k \ge 0} \gamma^k\, \delta_{t+k}"""
    deltas = judged(partial(loops.td_residuals, gamma=gamma), batch)
    for _, V, G, delta, _ in listed(batch, received(batch, gamma), deltas):
        for t, (earned, value) in enumerate(zip(G, V, strict=True)):
            assert earned - value == near(discounted(delta[t:], gamma))


@given(token_batches(), unit_interval, unit_interval)
def test_estimates_count_twice(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \sum_t \hat A_t = {}& \delta_0 + (1+\gamma\lambda)\,\delta_1 \\
    &+ (1+\gamma\lambda+\gamma^2\lambda^2)\,\delta_2 + \dots
    \end{aligned}"""
    found = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda)
    for r, V, A, end in listed(batch, found.advantages):
        expected = math.fsum(
            (gamma * gae_lambda) ** j * delta
            for k, delta in enumerate(loops.td_residuals(r, V, end, gamma=gamma))
            for j in range(k + 1)
        )
        assert math.fsum(A) == near(expected)


@given(full_row_masks(), st.integers(0, 999), st.floats(0, 1))
def test_ledger_rows(mask, seed, kl_coef):
    r"""\begin{aligned}
    r_t &= \mathrm{score}_t - \beta(\ell_t^{\mathrm{old}} - \ell_t^{\mathrm{ref}}) \\
    \hat A_t &= r_t + r_{t+1} + \dots - V(s_t) \\
    R_t &= \hat A_t + V(s_t)
    \end{aligned}"""
    old, ref, values = (poisoned(x, mask) for x in numbers(seed, 3, *mask.shape))
    scores = numbers(seed + 1, len(mask))
    rewards = token_level_rewards(
        token_level_scores=token_level_scores(scores, mask),
        kl=kl_k1(log_probs=old, ref_log_probs=ref),
        response_mask=mask,
        kl_coef=kl_coef,
    )
    found = gae(token_level_rewards=rewards, values=values, response_mask=mask)
    for row, kept in enumerate(mask):
        of_row = (x[row][kept] for x in (old - ref, values, rewards, *found))
        kl, V, r, A, R = (x.tolist() for x in of_row)
        earned = [-kl_coef * x for x in kl]
        earned[-1] += scores[row].item()
        after = [math.fsum(earned[t:]) for t in range(len(earned))]
        better = [g - v for g, v in zip(after, V, strict=True)]
        assert (r, A, R) == (near(earned), near(better), near(after))


@given(st.integers(1, 7), unit_interval, unit_interval, st.integers(0, 999))
def test_bootstrap_reach(tokens, gamma, gae_lambda, seed):
    r"""\frac{\partial \hat A_t}{\partial V(s_{t+k})} =
    \gamma^k \lambda^{k-1} (1-\lambda)

    The advantages are linear in the values, so that a nudge by 1 is the derivative;
    the value after a cut has weight gamma**N * lambda**(N-1), without 1 - lambda.
    """
    rewards, values = numbers(seed, 2, 1, tokens).expand(2, tokens + 1, tokens)
    mask = torch.ones(values.shape, dtype=torch.bool)
    given = {"token_level_rewards": rewards, "response_mask": mask}
    given |= {"gamma": gamma, "gae_lambda": gae_lambda}
    # Row k has the k-th value nudged, the last row the value after the cut.
    nudges = torch.eye(tokens + 1, dtype=torch.float64)
    ends = {"values": values + nudges[:, :-1], "bootstrap_values": nudges[:, -1]}
    found = gae(**given, **ends).advantages - gae(**given, values=values).advantages
    for t in range(tokens):
        left = tokens - t
        weights = [
            gamma**k * gae_lambda ** (k - 1) * (1 - gae_lambda) for k in range(1, left)
        ]
        end = gamma**left * gae_lambda ** (left - 1)
        assert found[:, t].tolist() == near([*[0.0] * t, -1.0, *weights, end])


@given(st.integers(0, 4), st.integers(1, 4), st.integers(0, 4), st.data())
def test_tool_token_bias(before, tool, after, data):
    r"""\tilde A_t - \hat A_t = (1-\lambda) \sum_{k=1}^{m} \lambda^{k-1}
    \bigl( V_{t+k} + r_t - R_t \bigr)

    t is the token before m slots of a tool without reward; R_t is the target at t
    when they are skipped. Checked for the tokens further left too: they take it on
    with lambda for each step.
    """
    lam = data.draw(unit_interval)
    mask = torch.tensor([[True] * (before + 1) + [False] * tool + [True] * after])
    rewards, values = numbers(data.draw(st.integers(0, 999)), 2, *mask.shape)
    rewards = rewards * mask
    inputs = {"token_level_rewards": rewards, "values": values}
    skipping, running = (
        gae(**inputs, response_mask=each, gae_lambda=lam).advantages[0]
        for each in (mask, torch.ones_like(mask))
    )
    right = loops.over_rows(loops.gae, mask, rewards, values, gamma=1, gae_lambda=lam)
    target, t = right[0, before] + values[0, before], before
    said = values[0, t + 1 : t + 1 + tool] + rewards[0, t] - target
    bias = (1 - lam) * discounted(said.tolist(), lam)
    for earlier in range(before + 1):
        carried = bias * lam ** (before - earlier)
        assert (running - skipping)[earlier].item() == near(carried)


@given(st.integers(2, 9), st.data(), unit_interval, unit_interval)
def test_slot_after_end_bias(slots, data, gamma, gae_lambda):
    r"""\tilde A_t - \hat A_t = \gamma(1-\lambda)(\gamma\lambda)^{L-1-t}\,V(s_L)"""
    tokens = data.draw(st.integers(1, slots - 1))
    rewards, values = numbers(data.draw(st.integers(0, 999)), 2, 1, slots)
    mask = torch.arange(slots)[None] < tokens
    rewards = rewards * mask
    inputs = {"token_level_rewards": rewards, "values": values, "gamma": gamma}
    found, right = (
        gae(**inputs, gae_lambda=gae_lambda, response_mask=each).advantages[0, :tokens]
        for each in (mask | slot_after_end(mask), mask)
    )
    looped = loops.over_rows(
        loops.gae, mask, rewards, values, gamma=gamma, gae_lambda=gae_lambda
    )
    assert_close(right, looped[0, :tokens])
    bias = [
        gamma * (1 - gae_lambda) * (gamma * gae_lambda) ** (tokens - 1 - t)
        for t in range(tokens)
    ]
    wanted = [x * values[0, tokens].item() for x in bias]
    assert (found - right).tolist() == near(wanted)


@given(token_batches(), unit_interval)
def test_without_bootstrap_values_they_are_0_and_no_argument_is_changed(batch, gamma):
    ended = batch._replace(bootstrap_values=torch.zeros_like(batch.bootstrap_values))
    before = [tensor.clone() for tensor in ended]
    inputs = ended._asdict()
    expected = gae(**inputs, gamma=gamma).advantages
    del inputs["bootstrap_values"]
    assert torch.equal(gae(**inputs, gamma=gamma).advantages, expected)
    for tensor, copy in zip(ended, before, strict=True):
        assert torch.equal(tensor.nan_to_num(), copy.nan_to_num())


def test_of_a_batch_without_a_token_all_is_0():
    none = torch.zeros(2, 3, dtype=torch.bool)
    rewards, values = poisoned(numbers(0, 2, 2, 3), none)
    received = {"token_level_rewards": rewards, "response_mask": none}
    received["bootstrap_values"] = torch.ones(2, dtype=torch.float64)
    given = received | {"values": values}
    found = [
        *gae(**given),
        td_residuals(**given),
        monte_carlo_returns(**received),
    ]
    assert not torch.stack(found).any()


def test_advantages_have_no_gradient():
    rewards, values = (x.requires_grad_() for x in numbers(0, 2, 2, 3))
    mask = torch.ones(2, 3, dtype=torch.bool)
    estimate = gae(token_level_rewards=rewards, values=values, response_mask=mask)
    assert not estimate.advantages.requires_grad
    assert not estimate.returns.requires_grad


TIME = 16384
ROUNDING = 5e-6  # of the largest advantage; a float32 loop reaches 5e-5


@pytest.mark.parametrize("noisy", [True, False])
@pytest.mark.parametrize(
    ("gamma", "gae_lambda"), [(0.9999, 1), (0.99995, 0.99995), (1, 1), (1, 0.95)]
)
def test_float32_stays_near_the_float64_loop(noisy, gamma, gae_lambda):
    """White noise, or a critic near its target and one reward at the end."""
    rewards, values = numbers(0, 2, 1, TIME).float()
    if not noisy:
        rewards = torch.eye(1, TIME).flip(1)
        drift = (0.05 * numbers(1, 1, TIME)).cumsum(1)
        values = torch.sigmoid(drift + values).float()
    mask = numbers(3, 1, TIME) < 1
    discounts = {"gamma": gamma, "gae_lambda": gae_lambda}
    given = {"token_level_rewards": rewards, "values": values, "response_mask": mask}
    exact = loops.over_rows(
        loops.gae, mask, rewards, values, gamma=gamma, gae_lambda=gae_lambda
    )
    wanted = exact, torch.where(mask, exact + values, 0)
    for found, right in zip(gae(**given, **discounts), wanted, strict=True):
        assert found.dtype == torch.float32
        assert (found - right).abs().max() <= ROUNDING * right.abs().max()


@given(token_batches())
def test_every_row_prints_what_the_loops_say(batch):
    rewards, values, mask, _ = batch
    deltas = judged(partial(loops.td_residuals, gamma=0.9), batch)
    advantages = judged(partial(loops.gae, gamma=0.9, gae_lambda=0.8), batch)
    columns = [rewards, values, deltas, advantages, advantages + values]
    for row, counts in enumerate(mask.tolist()):
        printed = trace(**batch._asdict(), gamma=0.9, gae_lambda=0.8, row=row)
        heading, *lines = (line.split() for line in printed.splitlines())
        assert heading == ["t", "r_t", "V(s_t)", "delta", "A", "R"]
        assert {len(line) for line in printed.splitlines()} == {43}
        for t, (slot, *cells) in enumerate(lines):
            assert slot == str(t)
            numbers = [f"{x[row, t]:.4f}" for x in columns] if counts[t] else ["-"] * 5
            for cell, number in zip(cells, numbers, strict=True):
                assert cell == number or abs(float(cell) - float(number)) < 1.1e-4
