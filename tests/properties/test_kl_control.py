"""The price of KL by its closed form, up to the largest batch that a horizon bears."""

import pytest

from ppo_ref.kl import adaptive_kl_coef


@pytest.mark.parametrize(
    ("kl", "error"), [(60, 0.2), (6.6, 0.1), (6, 0), (5.4, -0.1), (0, -0.2), (-3, -0.2)]
)
@pytest.mark.parametrize("steps", [1, 10, 49])
def test_the_price_moves_by_the_error_times_the_share_of_the_horizon(kl, error, steps):
    found = adaptive_kl_coef(kl_coef=0.5, kl=kl, target=6, horizon=10, steps=steps)
    assert found == pytest.approx(0.5 * (1 + error * steps / 10), rel=1e-12)


@pytest.mark.parametrize("steps", [50, 51])
def test_a_batch_that_could_take_the_price_to_nothing_is_refused(steps):
    text = f"steps must be below 5 times the horizon, 50, got {steps}"
    with pytest.raises(ValueError, match=f"^adaptive_kl_coef: {text}$"):
        adaptive_kl_coef(kl_coef=0.5, kl=6, target=6, horizon=10, steps=steps)
