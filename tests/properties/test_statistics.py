"""The figures of an iteration against loops over its batch."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.training.statistics import experience_statistics, update_statistics
from tests import networks, oracles

EXPERIENCE = networks.experience(networks.actor(), 1, 3, 5, 9)


def test_a_batch_says_what_a_loop_over_it_says():
    mask = EXPERIENCE.rollout.response_mask

    def listed(name):
        return oracles.counted(getattr(EXPERIENCE, name), mask)

    old, ref = listed("old_log_probs"), listed("ref_log_probs")
    # What the sampler said is 0 throughout.
    ratios = [math.exp(x) for x in old]
    returns, values = listed("returns"), listed("values")
    left = oracles.variance([r - v for r, v in zip(returns, values, strict=True)])
    expected = {
        "score": oracles.mean(EXPERIENCE.scores.tolist()),
        "kl": math.fsum(x - y for x, y in zip(old, ref, strict=True)) / 4,
        "entropy": oracles.mean(listed("entropy")),
        "value": oracles.mean(values),
        "return": oracles.mean(returns),
        "explained_variance": 1 - left / oracles.variance(returns),
        "response_length": (1 + 3 + 5 + 5) / 4,
        "truncated": 1 / 4,
        "rollout_kl": oracles.mean([math.exp(x) - 1 - x for x in old]),
        "rollout_effective_sample_size": oracles.effective_share(ratios),
    }
    assert experience_statistics(EXPERIENCE) == pytest.approx(expected)


def test_returns_without_variance_leave_a_figure_out():
    flat = EXPERIENCE._replace(returns=torch.ones_like(EXPERIENCE.returns))
    found = experience_statistics(flat)
    assert "explained_variance" not in found
    assert found["return"] == 1


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6))
def test_mini_batches_are_joined_by_what_their_names_say(numbers):
    names = ("policy_loss", "ratio_max", "ratio_min", "actor_steps")
    tables = [dict.fromkeys(names, number) for number in numbers]
    assert update_statistics(tables) == pytest.approx(
        {
            "policy_loss": oracles.mean(numbers),
            "ratio_max": max(numbers),
            "ratio_min": min(numbers),
            "actor_steps": math.fsum(numbers),
        }
    )
