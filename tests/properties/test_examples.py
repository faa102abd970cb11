"""The shared examples give the figures that the pages print."""

import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.advantages import gae, td_residuals
from ppo_ref.examples import (
    four_token_tree,
    shared_batch,
    three_tokens,
    two_token_tree,
)
from ppo_ref.kl import kl_k1
from ppo_ref.rewards import token_level_rewards, token_level_scores
from tests import oracles

FIGURES = {
    (1, 1): [
        [0.1786, 0.1489, 0.1191, 0.0994, 0.0796, 0.0499],
        [-0.8161, -0.4011, -0.2006, -0.1001, 0, 0],
    ],
    (1, 0.95): [
        [0.1556, 0.1325, 0.1081, 0.0930, 0.0771, 0.0499],
        [-0.7820, -0.3863, -0.1956, -0.1001, 0, 0],
    ],
    (0.99, 0.95): [
        [0.1118, 0.0963, 0.0800, 0.0737, 0.0671, 0.0499],
        [-0.7825, -0.3865, -0.1956, -0.1001, 0, 0],
    ],
}


def rewards():
    batch = shared_batch()
    kl = kl_k1(log_probs=batch.old_log_probs, ref_log_probs=batch.ref_log_probs)
    return token_level_rewards(
        token_level_scores=token_level_scores(batch.scores, batch.response_mask),
        kl=kl,
        response_mask=batch.response_mask,
        kl_coef=batch.kl_coef,
    )


def same_figures(came, figures):
    """Half a unit of the fourth decimal, and a little for the binary representation."""
    expected = torch.tensor(figures, dtype=torch.float64)
    assert_close(came, expected, rtol=0, atol=0.5001e-4)


def test_rewards_of_the_shared_batch():
    expected = [
        [-0.0003, -0.0002, -0.0003, -0.0002, -0.0003, 0.9999],
        [0.0050, -0.0005, -0.0005, -0.0001, 0, 0],
    ]
    same_figures(rewards(), expected)


@pytest.mark.parametrize(("gamma", "gae_lambda"), FIGURES)
def test_advantages_of_the_shared_batch(gamma, gae_lambda):
    batch, figures = shared_batch(), FIGURES[gamma, gae_lambda]
    judged = oracles.over_rows(
        oracles.gae(gamma, gae_lambda), batch.response_mask, rewards(), batch.values
    )
    same_figures(judged, figures)
    estimate = gae(
        token_level_rewards=rewards(),
        values=batch.values,
        response_mask=batch.response_mask,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    same_figures(estimate.advantages, figures)


@pytest.mark.parametrize(
    ("gae_lambda", "expected"),
    [
        (1, [0.7, 0.6, 0.4]),
        (0.95, [0.651, 0.58, 0.4]),
        (0.5, [0.3, 0.4, 0.4]),
        (0, [0.1, 0.2, 0.4]),
    ],
)
def test_advantages_of_the_three_tokens(gae_lambda, expected):
    advantages = gae(**three_tokens()._asdict(), gae_lambda=gae_lambda).advantages
    assert_close(advantages, torch.tensor([expected], dtype=torch.float64))


def test_the_tree_and_its_wrong_critic():
    tree = two_token_tree()
    inputs = {
        "token_level_rewards": tree.token_level_rewards,
        "response_mask": tree.response_mask,
    }
    exact = td_residuals(**inputs, values=tree.values)
    wrong = td_residuals(**inputs, values=tree.wrong_values)
    good = tree.responses[:, 0] == 1
    assert_close(exact[:, 0], torch.where(good, 0.25, -0.25).double())
    assert sorted(exact[good, 1].tolist()) == [-0.5, 0.5]
    assert_close(wrong[good, 0], torch.tensor([-0.15, -0.15]).double())
    assert_close(wrong[good, 1].mean().item(), 0.4)


TREES = [(two_token_tree, 2, 2), (four_token_tree, 4, 3)]


@pytest.mark.parametrize(("tree_of", "tokens", "ones"), TREES)
def test_a_tree_has_every_response_once_and_scores_its_end(tree_of, tokens, ones):
    tree = tree_of()
    written = list(itertools.product([0, 1], repeat=tokens))
    assert tree.responses.tolist() == [list(answer) for answer in written]
    assert tree.actor_probs.tolist() == [[0.5] * tokens for _ in written]
    assert tree.response_mask.tolist() == [[True] * tokens for _ in written]
    assert tree.token_level_rewards.tolist() == [
        [0.0] * (tokens - 1) + [float(answer.count(1) >= ones)] for answer in written
    ]


@pytest.mark.parametrize(("tree_of", "tokens", "ones"), TREES)
def test_the_trees_values_are_the_actors_means(tree_of, tokens, ones):
    """How many ways of writing on from a prefix have enough 1s: counted, not summed."""
    tree = tree_of()
    for answer, values in zip(tree.responses.tolist(), tree.values, strict=True):
        for t, value in enumerate(values.tolist()):
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


def test_the_shared_batch_slot_by_slot():
    """Row 0 is that of dialogue 002; padding holds what a critic would say there."""
    batch = shared_batch()
    assert batch.old_log_probs.tolist() == [
        [-0.12, -0.08, -0.15, -0.10, -0.05, -0.02],
        [-2.10, -0.30, -0.20, -0.05, 0, 0],
    ]
    assert batch.ref_log_probs.tolist() == [
        [-0.15, -0.10, -0.18, -0.12, -0.08, -0.03],
        [-1.60, -0.35, -0.25, -0.06, 0, 0],
    ]
    assert batch.values.tolist() == [
        [0.82, 0.85, 0.88, 0.90, 0.92, 0.95],
        [0.82, 0.40, 0.20, 0.10, 0.25, 0.80],
    ]
    assert batch.scores.tolist() == [1, 0]
    assert batch.response_mask.tolist() == [[True] * 6, [True] * 4 + [False] * 2]
    assert batch.kl_coef == 0.01
