"""Mean, bias and variance of advantages, and what they add up to: on whole trees."""

import itertools
import math
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae, td_residuals
from ppo_ref.examples import four_token_tree
from tests import oracles
from tests.properties.trees import (
    Tree,
    batch_of,
    exact_values,
    expected_return,
    mean_after,
    prob_from,
    rows,
    states,
    trees,
    true_advantages,
    variance_after,
)
from tests.strategies import unit_interval

PICTURE = Path(__file__).parents[2] / "snippets" / "gae" / "variance.svg"
seeds = st.integers(0, 2**16)


def wrong_critic(tree, gamma, seed):
    """A wrong value for every state, and by how much it is wrong; 0 after the end."""
    source = random.Random(seed)
    errors = dict.fromkeys(tree.answers, 0.0)
    errors |= {state: source.uniform(-1, 1) for state in states(tree)}
    exact = exact_values(tree, gamma)
    return {state: exact[state] + error for state, error in errors.items()}, errors


@given(trees(), unit_interval)
def test_excess_of_a_token(tree, gamma):
    r"""\delta_t = r_t + \gamma V^\pi(s_{t+1}) - V^\pi(s_t) = A^\pi(s_t, a_t)"""
    advantages = true_advantages(tree, gamma)
    expected = rows(tree, lambda written: advantages[written]).nan_to_num()
    deltas = td_residuals(**batch_of(tree, exact_values(tree, gamma)), gamma=gamma)
    assert_close(deltas, expected, rtol=0, atol=1e-12)


@given(st.integers(1, 4), seeds, unit_interval, st.floats(-1, 2))
def test_what_a_cold_critic_keeps(length, seed, gae_lambda, share):
    r"""\begin{aligned}
    &\mathbb{E}[\hat A_t \mid s_t, a] - \mathbb{E}[\hat A_t \mid s_t, a'] \\
    &\quad = \big(c + (1-c)\,\lambda^{T-t-1}\big)\,\big(A(s_t, a) - A(s_t, a')\big)
    \end{aligned}

    Of a critic that says c times the exact value; answers of T tokens, scored at the
    end.
    """
    source = random.Random(seed)
    answers = list(itertools.product((0, 1), repeat=length))
    written = [a[: t + 1] for a in answers for t in range(length)]
    first = {w: source.uniform(0.1, 0.9) for w in {w[:-1] for w in written}}
    probs = {w: abs(w[-1] - first[w[:-1]]) for w in written}
    tree = Tree(answers, probs, dict.fromkeys(written, 0.0))
    tree.rewards.update({answer: source.uniform(-1, 1) for answer in answers})
    values = {s: share * value for s, value in exact_values(tree, 1).items()}
    found = gae(**batch_of(tree, values), gae_lambda=gae_lambda).advantages
    true = true_advantages(tree, 1)
    for state in first:
        t, (one, other) = len(state), ((*state, 0), (*state, 1))
        kept = share + (1 - share) * gae_lambda ** (length - t - 1)
        pair = [mean_after(tree, w, found[:, t]) for w in (one, other)]
        assert pair[0] - pair[1] == pytest.approx(
            kept * (true[one] - true[other]), abs=1e-9
        )


@given(trees(), unit_interval)
def test_excesses_add_up(tree, gamma):
    r"""\sum_t \gamma^t A^\pi(s_t, a_t) = G_0 - V^\pi(s_0)

    In every answer; V^\pi(s_0) is the mean over all of them.
    """
    before = expected_return(tree, gamma, ())
    exact = batch_of(tree, exact_values(tree, gamma))
    deltas = td_residuals(**exact, gamma=gamma).tolist()
    for answer, of_answer in zip(tree.answers, deltas, strict=True):
        steps = [(t, answer[: t + 1]) for t in range(len(answer))]
        received = math.fsum(gamma**t * tree.rewards[written] for t, written in steps)
        total = math.fsum(gamma**t * delta for t, delta in enumerate(of_answer))
        assert total == pytest.approx(received - before, abs=1e-12)


@given(trees(), unit_interval, seeds)
def test_policy_difference(tree, gamma, seed):
    r"""J(\pi') - J(\pi) = \mathbb{E}_{\pi'}\Big[\sum_t \gamma^t A^\pi(s_t, a_t)\Big]"""
    source, probs = random.Random(seed), {}
    for state in states(tree):
        after = [written for written in tree.probs if written[:-1] == state]
        weights = [source.random() + 0.01 for _ in after]
        for written, weight in zip(after, weights, strict=True):
            probs[written] = weight / math.fsum(weights)
    other = Tree(tree.answers, probs, tree.rewards)
    advantages = true_advantages(tree, gamma)
    gain = expected_return(other, gamma, ()) - expected_return(tree, gamma, ())
    total = math.fsum(
        prob_from(other, (), answer) * gamma**t * advantages[answer[: t + 1]]
        for answer in tree.answers
        for t in range(len(answer))
    )
    assert total == pytest.approx(gain, abs=1e-12)


@given(trees(), unit_interval, seeds)
def test_mean_of_return_minus_value(tree, gamma, seed):
    r"""\mathbb{E}[G_t - V(s_t) \mid s_t, a_t] = Q(s_t, a_t) - V(s_t)

    Whatever the critic says of a state.
    """
    values, errors = wrong_critic(tree, gamma, seed)
    advantages = gae(**batch_of(tree, values), gamma=gamma).advantages
    for written, advantage in true_advantages(tree, gamma).items():
        mean = mean_after(tree, written, advantages[:, len(written) - 1])
        assert mean == pytest.approx(advantage - errors[written[:-1]], abs=1e-12)


@given(trees(), unit_interval, seeds)
def test_residual_mean(tree, gamma, seed):
    r"""\begin{aligned}
    \mathbb{E}[\delta_t \mid s_t, a_t] ={}& A^\pi(s_t, a_t) \\
    &+ \gamma\,\mathbb{E}[e(s_{t+1}) \mid s_t, a_t] - e(s_t)
    \end{aligned}
    """
    values, errors = wrong_critic(tree, gamma, seed)
    deltas = td_residuals(**batch_of(tree, values), gamma=gamma)
    for written, advantage in true_advantages(tree, gamma).items():
        mean = mean_after(tree, written, deltas[:, len(written) - 1])
        off = gamma * errors[written] - errors[written[:-1]]
        assert mean == pytest.approx(advantage + off, abs=1e-12)


@given(trees(), unit_interval, unit_interval, seeds)
def test_bias_left(tree, gamma, gae_lambda, seed):
    r"""\begin{aligned}
    &\mathbb{E}[\hat A_t \mid s_t, a_t] - A^\pi(s_t, a_t) = -e(s_t) \\
    &+ (1-\lambda)\sum_{k\ge 1}\gamma^k\lambda^{k-1}\,
    \mathbb{E}[e(s_{t+k}) \mid s_t, a_t]
    \end{aligned}"""
    values, errors = wrong_critic(tree, gamma, seed)
    batch = batch_of(tree, values)
    advantages = gae(**batch, gamma=gamma, gae_lambda=gae_lambda).advantages
    reached = rows(tree, lambda written: errors[written[:-1]]).nan_to_num()
    for written, advantage in true_advantages(tree, gamma).items():
        t = len(written) - 1
        mean = mean_after(tree, written, advantages[:, t])
        later = math.fsum(
            gamma**k * gae_lambda ** (k - 1) * mean_after(tree, written, column)
            for k, column in enumerate(reached.T[t + 1 :], start=1)
        )
        bias = -errors[written[:-1]] + (1 - gae_lambda) * later
        assert mean - advantage == pytest.approx(bias, abs=1e-12)


@given(trees(), unit_interval, unit_interval)
def test_variance_with_exact_values(tree, gamma, gae_lambda):
    r"""\begin{aligned}
    &\mathrm{Var}(\hat A_t \mid s_t, a_t) \\
    &\quad = \sum_{k\ge 1} (\gamma\lambda)^{2k}\,\mathrm{Var}(\delta_{t+k} \mid
    s_t, a_t)
    \end{aligned}

    And the mean is Q - V, whatever lambda is.
    """
    batch = batch_of(tree, exact_values(tree, gamma))
    advantages = gae(**batch, gamma=gamma, gae_lambda=gae_lambda).advantages
    true = true_advantages(tree, gamma)
    residuals = rows(tree, lambda written: true[written]).nan_to_num()
    for written, advantage in true.items():
        t = len(written) - 1
        expected = math.fsum(
            (gamma * gae_lambda) ** (2 * k) * variance_after(tree, written, later)
            for k, later in enumerate(residuals.T[t + 1 :], start=1)
        )
        of_token = advantages[:, t]
        variance = variance_after(tree, written, of_token)
        assert variance == pytest.approx(expected, abs=1e-12)
        mean = mean_after(tree, written, of_token)
        assert mean == pytest.approx(advantage, abs=1e-12)


def total_error(critic, gae_lambda):
    """Bias squared and variance of the first advantage after a 1, by loops."""
    tree = four_token_tree()
    rewards = tree.token_level_rewards.tolist()
    found = [
        oracles.gae(1, gae_lambda)(r, v, 0.0)[0]
        for answer, r, v in zip(
            tree.responses.tolist(), rewards, critic.tolist(), strict=True
        )
        if answer[0]
    ]
    mean = oracles.mean(found)
    variance = oracles.mean([(x - mean) ** 2 for x in found])
    return (mean - (4 / 8 - 5 / 16)) ** 2, variance


def test_the_curves_of_the_picture_are_where_they_belong():
    """Per panel: the sum, the variance, the squared bias; 0.5 is 100 pixels up."""
    tree = four_token_tree()
    sway = tree.wrong_values - tree.values
    svg = "{http://www.w3.org/2000/svg}"
    panels = ET.parse(PICTURE).getroot().findall(f"{svg}g")
    for panel, scale in zip(panels, (0, 1, 16), strict=True):
        paths = [path.get("d") for path in panel.findall(f"{svg}path")]
        curves = [d for d in paths if "L" in d]
        for which, d in zip(("sum", "variance", "bias"), curves, strict=True):
            points = [
                tuple(map(float, point.split()))
                for piece in d.split("M")[1:]
                for point in piece.split("L")
            ]
            assert points[-1][0] == 88
            for x, y in points:
                bias, variance = total_error(tree.values + scale * sway, x / 88)
                shown = {"sum": bias + variance, "variance": variance, "bias": bias}
                assert y == pytest.approx(100 - 200 * shown[which], abs=0.6)
