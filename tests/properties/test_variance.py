"""Bias and variance of the advantage: on whole trees of answers, by loops."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.advantages import gae, monte_carlo_returns, n_step_advantages
from ppo_ref.examples import four_token_tree
from tests import oracles
from tests.properties.test_expected_return import (
    expected_return,
    prob_from,
    rows,
    trees,
)
from tests.strategies import unit_interval

PICTURE = Path(__file__).parents[2] / "snippets" / "gae" / "variance.svg"


def weights(tree, prefix):
    """How likely each answer is once a prefix is written."""
    return [
        prob_from(tree, prefix, a) if a[: len(prefix)] == prefix else 0.0
        for a in tree.answers
    ]


def moments(numbers, probs):
    """Mean and variance over the answers that can still come."""
    pairs = [(x, p) for x, p in zip(numbers, probs, strict=True) if p]
    mean = math.fsum(x * p for x, p in pairs)
    return mean, math.fsum(p * (x - mean) ** 2 for x, p in pairs)


def states(tree):
    return {a[:t] for a in tree.answers for t in range(len(a))}


def residual(tree, gamma, answer, t):
    """delta_t with the exact expectations; 0 once the answer has ended."""
    if t >= len(answer):
        return 0.0
    after = 0.0
    if t + 1 < len(answer):
        after = expected_return(tree, gamma, answer[: t + 1])
    before = expected_return(tree, gamma, answer[:t])
    return tree.rewards[answer[: t + 1]] + gamma * after - before


def batch_of(tree):
    rewards = rows(tree, lambda written: tree.rewards[written])
    return {"token_level_rewards": rewards, "response_mask": ~rewards.isnan()}


@given(trees(), unit_interval, unit_interval)
def test_variance_with_exact_values(tree, gamma, gae_lambda):
    r"""\begin{aligned}
    &\mathrm{Var}(\hat A_t \mid s_t, a_t) \\
    &\quad = \sum_{k\ge 1} (\gamma\lambda)^{2k}\,\mathrm{Var}(\delta_{t+k} \mid
    s_t, a_t)
    \end{aligned}

    And the mean is Q - V, whatever lambda is; the advantage is Monte Carlo's less the
    later residuals, (1 - lambda**k) of each.
    """
    exact = rows(tree, lambda written: expected_return(tree, gamma, written[:-1]))
    batch = {**batch_of(tree), "values": exact, "gamma": gamma}
    advantages = gae(**batch, gae_lambda=gae_lambda).advantages.tolist()
    received = gae(**batch, gae_lambda=1).advantages.tolist()
    for prefix in tree.probs:
        t, probs = len(prefix) - 1, weights(tree, prefix)
        deltas = [
            [residual(tree, gamma, answer, u) for answer in tree.answers]
            for u in range(t, t + 4)
        ]
        of_later = (
            (gamma * gae_lambda) ** (2 * k) * moments(deltas[k], probs)[1]
            for k in range(1, 4)
        )
        mean, variance = moments([row[t] for row in advantages], probs)
        assert variance == pytest.approx(math.fsum(of_later), abs=1e-12)
        answer = next(a for a in tree.answers if a[: t + 1] == prefix)
        assert mean == pytest.approx(residual(tree, gamma, answer, t), abs=1e-12)
        for row, probable in enumerate(probs):
            if probable:
                less = math.fsum(
                    gamma**k * (1 - gae_lambda**k) * deltas[k][row] for k in range(1, 4)
                )
                expected = received[row][t] - less
                assert advantages[row][t] == pytest.approx(expected, abs=1e-12)


@given(trees(), unit_interval)
def test_variance_along_the_answer(tree, gamma):
    r"""\begin{aligned}
    \mathrm{Var}(G_t \mid s_t) ={}& \gamma^2\,\mathbb{E}[\mathrm{Var}(G_{t+1} \mid
    s_{t+1}) \mid s_t] \\
    &+ \mathrm{Var}(r_t + \gamma V(s_{t+1}) \mid s_t)
    \end{aligned}
    """
    received = monte_carlo_returns(**batch_of(tree), gamma=gamma).tolist()

    def variance(state):
        if len(state) == len(received[0]) or state[-1:] == (0,):
            return 0.0
        column = [row[len(state)] for row in received]
        return moments(column, weights(tree, state))[1]

    for state in states(tree):
        ahead = [prefix for prefix in tree.probs if prefix[:-1] == state]
        probs = [tree.probs[prefix] for prefix in ahead]
        later = math.fsum(
            p * variance(prefix) for p, prefix in zip(probs, ahead, strict=True)
        )
        worth = [
            tree.rewards[prefix] + gamma * expected_return(tree, gamma, prefix)
            for prefix in ahead
        ]
        expected = gamma**2 * later + moments(worth, probs)[1]
        assert variance(state) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 6), st.integers(0, 2**16), unit_interval, unit_interval)
def test_mix_of_n_steps(length, seed, gamma, gae_lambda):
    r"""\begin{aligned}
    \hat A_t ={}& (1-\lambda)\sum_{n=1}^{N-1} \lambda^{n-1} \hat A_t^{(n)} \\
    &+ \lambda^{N-1} \hat A_t^{(N)}
    \end{aligned}
    """
    source = torch.Generator().manual_seed(seed)
    rewards, values = torch.randn(2, length, generator=source).double()
    batch = {
        "token_level_rewards": rewards[None],
        "values": values[None],
        "response_mask": torch.ones(1, length, dtype=torch.bool),
        "gamma": gamma,
    }
    whole = oracles.gae(gamma, gae_lambda)(rewards.tolist(), values.tolist(), 0.0)
    for t, expected in enumerate(whole):
        last = length - t
        parts = [
            (gae_lambda ** (n - 1) * (1 if n == last else 1 - gae_lambda))
            * n_step_advantages(**batch, steps=n)[0, t].item()
            for n in range(1, last + 1)
        ]
        assert math.fsum(parts) == pytest.approx(expected, abs=1e-12)


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
    mean, variance = moments(found, [1 / 8] * 8)
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
