"""Each optimizer moves its own network, at a rate that rises and then falls."""

import pytest

from ppo_ref.training.learners import Learners, learning_rate_share
from tests.networks import actor


def learners(seed: int = 0) -> Learners:
    return Learners(actor(seed), actor_lr=0.5, critic_lr=0.25)


def rates(learning: Learners) -> dict[str, float]:
    return {
        name: getattr(learning, f"{name}_optimizer").param_groups[0]["lr"]
        for name in ("imitation", "reward", "actor", "critic")
    }


@pytest.mark.parametrize("shares", [[0.5, 1.0], [0.125, 0.25]])
def test_a_share_is_one_of_the_peak_whatever_was_before(shares):
    learning = learners()
    for share in shares:
        learning.set_learning_rates(share)
    last = shares[-1]
    found = rates(learning)
    assert found["actor"] == 0.5 * last and found["critic"] == 0.25 * last
    assert found["imitation"] == 1e-3 and found["reward"] == 2e-3


SHARES = {
    (8, 5): [1 / 5, 2 / 5, 3 / 5, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8],
    (3, 1): [1, 2 / 3, 1 / 3],
    (4, 100): [1 / 100, 2 / 100, 3 / 100, 4 / 100],
    (1, 1): [1],
}


@pytest.mark.parametrize(("steps", "warm_up"), SHARES)
def test_it_rises_by_equal_parts_then_falls_to_nothing(steps, warm_up):
    found = [learning_rate_share(step, steps, warm_up) for step in range(steps)]
    assert found == pytest.approx(SHARES[steps, warm_up], rel=1e-12)
