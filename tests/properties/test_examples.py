"""The shared examples give the figures that the pages print."""

import itertools
import math

import pytest

from ppo_ref.examples import four_token_tree, two_token_tree

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
