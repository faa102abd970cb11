"""How an exact V moves along an answer: on whole trees of answers, by loops."""

import math
import random
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.advantages import monte_carlo_returns
from tests.properties.test_expected_return import (
    Tree,
    expected_return,
    prob_from,
    rows,
    trees,
)
from tests.strategies import unit_interval

PICTURE = (
    Path(__file__).parents[2] / "snippets" / "critic" / "value_along_the_answer.svg"
)


def mean_return(tree, gamma):
    """V of every state, the mean of what ``ppo_ref`` says its answers still earn."""
    rewards = rows(tree, lambda written: tree.rewards[written])
    received = monte_carlo_returns(
        token_level_rewards=rewards, response_mask=~rewards.isnan(), gamma=gamma
    ).tolist()
    values: dict[tuple[int, ...], float] = defaultdict(float)
    for answer, row in zip(tree.answers, received, strict=True):
        for t, earned in enumerate(row[: len(answer)]):
            state = answer[:t]
            values[state] += prob_from(tree, state, answer) * earned
    return values | dict.fromkeys(tree.answers, 0.0)


def next_states(tree, state):
    return [written for written in tree.probs if written[:-1] == state]


@given(trees(), unit_interval)
def test_value_martingale(tree, gamma):
    r"""\gamma\,\mathbb{E}[V(s_{t+1}) \mid s_t] = V(s_t) - \mathbb{E}[r_t \mid s_t]"""
    values = mean_return(tree, gamma)
    for state in {written[:-1] for written in tree.probs}:
        ahead = next_states(tree, state)
        later = math.fsum(tree.probs[w] * values[w] for w in ahead)
        earned = math.fsum(tree.probs[w] * tree.rewards[w] for w in ahead)
        assert gamma * later == pytest.approx(values[state] - earned, abs=1e-12)
        fall = earned - (1 - gamma) * later
        assert values[state] - later == pytest.approx(fall, abs=1e-12)
        if gamma > 0.01:
            grown = 1 / gamma * (values[state] - earned)
            assert later == pytest.approx(grown, abs=1e-9)


def scored(tree, seed):
    """The same tree with a score of 0 or 1 at the end of an answer alone."""
    source = random.Random(seed)
    rewards = dict.fromkeys(tree.rewards, 0.0)
    rewards |= {answer: float(source.random() < 0.5) for answer in tree.answers}
    return Tree(tree.answers, tree.probs, rewards)


@given(trees(), st.integers(0, 2**16))
def test_value_given_success(tree, seed):
    r"""\begin{aligned}
    &\mathbb{E}[V(s_{t+1}) \mid s_t, G=1] \\
    &\quad = V(s_t) + \frac{\mathrm{Var}(V(s_{t+1}) \mid s_t)}{V(s_t)}
    \end{aligned}

    With G = 0 less the variance over 1 - V(s_t); V of a finished answer is its score.
    """
    tree = scored(tree, seed)
    values = mean_return(tree, 1) | {a: tree.rewards[a] for a in tree.answers}
    for state in {written[:-1] for written in tree.probs}:
        here = expected_return(tree, 1, state)
        ahead = next_states(tree, state)
        variance = math.fsum(tree.probs[w] * (values[w] - here) ** 2 for w in ahead)
        for score, expected in ((1, variance), (0, -variance)):
            likely = {
                a: prob_from(tree, state, a)
                for a in tree.answers
                if a[: len(state)] == state and tree.rewards[a] == score
            }
            if likely:
                mean = math.fsum(
                    p * values[answer[: len(state) + 1]] for answer, p in likely.items()
                ) / math.fsum(likely.values())
                share = here if score else 1 - here
                assert mean == pytest.approx(here + expected / share, abs=1e-12)


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
