"""What a group's baseline does to the gradient, by enumeration of every group.

The two-token tree under a uniform actor: a group is n leaves, drawn independently, and
the score function of a leaf's first token is +1/2 or -1/2.
"""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.examples import two_token_tree
from ppo_ref.group_advantages import dr_grpo, grpo, rloo

TREE = two_token_tree()
LEAVES = len(TREE.responses)
SCORES = TREE.token_level_rewards.sum(1)
# Of the log-probability of each leaf's first token, by the logit of a 1.
SLOPES = TREE.responses[:, 0] - 0.5
# Exact: the expected score rises as fast as this.
SLOPE = (SCORES * SLOPES).mean()


def expected_gradient(estimate, size: int) -> torch.Tensor:
    """Mean over all groups of so many leaves of the mean of advantage times slope."""
    groups = torch.tensor([*itertools.product(range(LEAVES), repeat=size)]).flatten()
    found = estimate(
        token_level_rewards=TREE.token_level_rewards[groups],
        response_mask=TREE.response_mask[groups],
        groups=torch.arange(LEAVES**size).repeat_interleave(size),
    )
    return (found.advantages[:, 0] * SLOPES[groups]).mean()


def test_the_slope_is_that_of_the_tree():
    """Right is (1, 1) alone: 1/4 of the leaves, all with a slope of 1/2."""
    assert SLOPE.item() == float(Fraction(1, 4) * Fraction(1, 2))


def test_leaving_one_out_is_unbiased():
    for size in 2, 3, 4:
        assert_close(expected_gradient(rloo, size), SLOPE)


def test_a_mean_that_counts_the_response_itself_shrinks_the_gradient():
    for size in 2, 3, 4:
        assert_close(expected_gradient(dr_grpo, size), SLOPE * (size - 1) / size)


def test_dividing_by_the_standard_deviation_favours_rare_successes():
    """A score right with probability p has the slope p (1 - p) by its own logit.

    Groups of eight with k right ones come by the binomial law; GRPO's expectation is a
    larger multiple of the slope where successes are rare than where half are right.
    """

    def share(p: float, estimate: Callable[..., Any], size: int = 8) -> float:
        total = 0.0
        for right in range(size + 1):
            scores = (torch.arange(size) < right).double()
            found = estimate(
                token_level_rewards=scores[:, None],
                response_mask=torch.ones(size, 1, dtype=torch.bool),
                groups=torch.zeros(size, dtype=torch.int64),
            )
            chance = math.comb(size, right) * p**right * (1 - p) ** (size - right)
            total += chance * (found.advantages[:, 0] * (scores - p)).mean().item()
        return total / (p * (1 - p))

    assert share(0.05, grpo) > 1.2 * share(0.5, grpo) > 2
    for p in 0.05, 0.5:
        assert share(p, rloo) == pytest.approx(1)
        assert share(p, dr_grpo) == pytest.approx(7 / 8)
