"""The share of the peak that a learning rate has, at every step of a run."""

import re

import pytest

from ppo_ref.training.learners import learning_rate_share

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


@pytest.mark.parametrize("step", [3, -1])
def test_a_step_beyond_the_run_is_refused(step):
    text = f"learning_rate_share: step must lie in [0, 3), got {step}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        learning_rate_share(step, 3, warm_up=1)
