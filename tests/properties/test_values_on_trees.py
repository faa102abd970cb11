"""What a value is, how it moves along an answer, and what fits it: on whole trees."""

import itertools
import math
import random
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.advantages import monte_carlo_returns, td_residuals
from ppo_ref.examples import four_token_tree, two_token_tree
from tests.properties.trees import (
    Tree,
    batch_of,
    exact_values,
    expected_return,
    mean_after,
    prob_from,
    states,
    trees,
    variance_after,
)
from tests.strategies import unit_interval

PICTURE = (
    Path(__file__).parents[2] / "snippets" / "critic" / "value_along_the_answer.svg"
)


def mean_return(tree, gamma):
    """V of every state, the mean of what ``ppo_ref`` says its answers still earn."""
    received = monte_carlo_returns(**batch_of(tree), gamma=gamma)
    values = {s: mean_after(tree, s, received[:, len(s)]) for s in states(tree)}
    return values | dict.fromkeys(tree.answers, 0.0)


def next_states(tree, state):
    return [written for written in tree.probs if written[:-1] == state]


@given(trees(), unit_interval)
def test_expected_return_before_token(tree, gamma):
    r"""V(s_t) = \mathbb{E}_{a_t \sim \pi}[r_t + \gamma V(s_{t+1})]

    The loop's expected returns obey it; the mean of ``monte_carlo_returns`` over the
    answers ahead is that V, and the mean of ``td_residuals`` with that V is 0.
    """
    exact, received = exact_values(tree, gamma), mean_return(tree, gamma)
    deltas = td_residuals(**batch_of(tree, exact), gamma=gamma)
    for state in states(tree):
        mean = math.fsum(
            tree.probs[after] * (tree.rewards[after] + gamma * exact[after])
            for after in next_states(tree, state)
        )
        assert exact[state] == pytest.approx(mean, abs=1e-12)
        assert received[state] == pytest.approx(mean, abs=1e-12)
        of_token = deltas[:, len(state)]
        assert mean_after(tree, state, of_token) == pytest.approx(0, abs=1e-12)


@given(trees(), unit_interval)
def test_value_martingale(tree, gamma):
    r"""\gamma\,\mathbb{E}[V(s_{t+1}) \mid s_t] = V(s_t) - \mathbb{E}[r_t \mid s_t]"""
    values = mean_return(tree, gamma)
    for state in states(tree):
        ahead = next_states(tree, state)
        later = math.fsum(tree.probs[w] * values[w] for w in ahead)
        earned = math.fsum(tree.probs[w] * tree.rewards[w] for w in ahead)
        assert gamma * later == pytest.approx(values[state] - earned, abs=1e-12)


@given(trees(), st.integers(0, 2**16))
def test_value_given_success(tree, seed):
    r"""\begin{aligned}
    &\mathbb{E}[V(s_{t+1}) \mid s_t, G=1] \\
    &\quad = V(s_t) + \frac{\mathrm{Var}(V(s_{t+1}) \mid s_t)}{V(s_t)}
    \end{aligned}

    With G = 0 less the variance over 1 - V(s_t); V of a finished answer is its score.
    """
    source = random.Random(seed)
    rewards = dict.fromkeys(tree.rewards, 0.0)
    rewards |= {answer: float(source.random() < 0.5) for answer in tree.answers}
    tree = Tree(tree.answers, tree.probs, rewards)
    values = mean_return(tree, 1) | {a: rewards[a] for a in tree.answers}
    for state in states(tree):
        here = expected_return(tree, 1, state)
        ahead = next_states(tree, state)
        variance = math.fsum(tree.probs[w] * (values[w] - here) ** 2 for w in ahead)
        for score, expected in ((1, variance), (0, -variance)):
            likely = {
                a: prob_from(tree, state, a)
                for a in tree.answers
                if a[: len(state)] == state and rewards[a] == score
            }
            if likely:
                mean = math.fsum(
                    p * values[answer[: len(state) + 1]] for answer, p in likely.items()
                ) / math.fsum(likely.values())
                share = here if score else 1 - here
                assert mean == pytest.approx(here + expected / share, abs=1e-12)


@given(trees(), unit_interval)
def test_variance_along_the_answer(tree, gamma):
    r"""\begin{aligned}
    \mathrm{Var}(G_t \mid s_t) ={}& \gamma^2\,\mathbb{E}[\mathrm{Var}(G_{t+1} \mid
    s_{t+1}) \mid s_t] \\
    &+ \mathrm{Var}(r_t + \gamma V(s_{t+1}) \mid s_t)
    \end{aligned}
    """
    received = monte_carlo_returns(**batch_of(tree), gamma=gamma)
    exact = exact_values(tree, gamma)
    variances = dict.fromkeys(tree.answers, 0.0)
    for s in states(tree):
        variances[s] = variance_after(tree, s, received[:, len(s)])
    for state in states(tree):
        ahead = next_states(tree, state)
        later = math.fsum(tree.probs[w] * variances[w] for w in ahead)
        worth = [tree.rewards[w] + gamma * exact[w] - exact[state] for w in ahead]
        squares = zip(ahead, worth, strict=True)
        of_step = math.fsum(tree.probs[w] * x**2 for w, x in squares)
        expected = gamma**2 * later + of_step
        assert variances[state] == pytest.approx(expected, abs=1e-12)


@given(trees(), unit_interval)
def test_regression_mean(tree, gamma):
    r"""\begin{aligned}
    \arg\min_v \mathbb{E}\bigl[(G_t - v)^2 \mid s_t\bigr] &= \mathbb{E}[G_t \mid s_t] \\
    &= V^\pi(s_t)
    \end{aligned}

    The mean error rises by the square of the distance from there.
    """
    received = monte_carlo_returns(**batch_of(tree), gamma=gamma)
    for state, best in exact_values(tree, gamma).items():
        if state in tree.answers:
            continue
        of_state = received[:, len(state)]
        least, *others = (
            mean_after(tree, state, (of_state - best - off).square())
            for off in (0, -1.0, 0.1)
        )
        assert others == pytest.approx([least + 1, least + 0.01], abs=1e-9)


@given(trees(), unit_interval, st.randoms())
def test_mean_residual(tree, gamma, source):
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


def points(path):
    """The corners of a path, as step and value: 40 pixels a step, 160 a unit up."""
    corners = path.get("d").removeprefix("M").split("L")
    pairs = (map(float, corner.split()) for corner in corners)
    return [((x - 40) / 40, (190 - y) / 160) for x, y in pairs]


def test_the_fan_of_the_picture_is_that_of_seven_tokens():
    """Grey lines by how many answers take them; then the means by score."""
    answers = [[k >> bit & 1 for bit in range(7)] for k in range(128)]
    flow: dict[tuple[float, ...], int] = defaultdict(int)
    ends: dict[int, list[list[float]]] = {0: [], 1: []}
    for answer in answers:
        values = []
        for t in range(8):
            alike = [other for other in answers if other[:t] == answer[:t]]
            values.append(sum(sum(other) > 3 for other in alike) / len(alike))
        ends[sum(answer) > 3].append(values)
        for t in range(7):
            flow[t, values[t], values[t + 1]] += 1
    svg = "{http://www.w3.org/2000/svg}"
    root = ET.parse(PICTURE).getroot()
    lines = root.find(f"{svg}g").findall(f"{svg}path")
    assert len(lines) == len(flow)
    for line in lines:
        (t, before), (_, after) = points(line)
        taken = [
            count
            for (step, *height), count in flow.items()
            if step == t and height == pytest.approx([before, after], abs=0.001)
        ]
        width = max(0.6, 8 * taken.pop() / 128)
        assert float(line.get("stroke-width")) == pytest.approx(width, abs=0.06)
    whole, right, wrong = root.findall(f"{svg}path")
    assert whole.get("d") == "M40 110H320"
    for curve, score in ((right, 1), (wrong, 0)):
        means = [sum(column) / 64 for column in zip(*ends[score], strict=True)]
        for t, height in points(curve):
            assert height == pytest.approx(means[round(t)], abs=0.001)


TREES = [(two_token_tree, 2, 2), (four_token_tree, 4, 3)]


@pytest.mark.parametrize(("tree_of", "tokens", "ones"), TREES)
def test_a_tree_has_every_response_once_and_the_actors_means_as_values(
    tree_of, tokens, ones
):
    """How many ways of writing on from a prefix have enough 1s: counted, not summed."""
    tree = tree_of()
    written = list(itertools.product([0, 1], repeat=tokens))
    assert tree.responses.tolist() == [list(answer) for answer in written]
    assert (tree.actor_probs == 0.5).all() and tree.response_mask.all()
    assert tree.token_level_rewards.tolist() == [
        [0.0] * (tokens - 1) + [float(answer.count(1) >= ones)] for answer in written
    ]
    for answer, values in zip(written, tree.values.tolist(), strict=True):
        for t, value in enumerate(values):
            left, missing = tokens - t, max(ones - sum(answer[:t]), 0)
            ways = sum(math.comb(left, k) for k in range(missing, left + 1))
            assert value == ways / 2**left


def test_the_critic_that_the_latest_token_sways():
    tree = four_token_tree()
    for answer, wrong, right in zip(
        tree.responses.tolist(), tree.wrong_values, tree.values, strict=True
    ):
        sway = [0.0] + [0.25 if token else -0.25 for token in answer[:-1]]
        assert (wrong - right).tolist() == sway
