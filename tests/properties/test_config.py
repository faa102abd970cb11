"""What a setting may be, and in what words it is refused: one of each kind of bound."""

import re

import pytest

from ppo_ref.training.config import PPOConfig

# A batch of 1 can be divided by a mini-batch of 1 alone, and so on.
SMALLEST = dict.fromkeys(
    ("width", "heads", "batch_size", "mini_batch_size", "micro_batch_size"), 1
)


@pytest.mark.parametrize(
    ("name", "within", "beyond", "bound"),
    [
        ("kl_coef", 0, -0.1, "at least 0"),
        ("batch_size", 1, 0, "at least 1"),
        ("temperature", 5e-324, 0, "above 0"),
        ("gamma", 1, 1.0000001, "at most 1"),
        ("clip_range", 0.9999999, 1.0, "below 1"),
    ],
)
def test_a_number_may_go_to_its_bound_and_not_beyond(name, within, beyond, bound):
    assert getattr(PPOConfig(**{**SMALLEST, name: within}), name) == within
    with pytest.raises(ValueError, match=f"^PPOConfig: {name} must be {bound}, got"):
        PPOConfig(**{name: beyond})


REFUSED = {
    "batch_size must be a multiple of mini_batch_size 64, got 100": {"batch_size": 100},
    "width must be a multiple of heads 4, got 10": {"width": 10, "heads": 4},
    "kl_horizon must be above a fifth of batch_size 256, got 51.2": {
        "kl_horizon": 51.2
    },
    "precision must be one of float32, bfloat16, got 'float16'": {
        "precision": "float16"
    },
    "batch_size must be an int, got float 256.0": {"batch_size": 256.0},
    "seed must be an int, got bool True": {"seed": True},
    "gamma must be a float, got str '1'": {"gamma": "1"},
}


@pytest.mark.parametrize("text", REFUSED)
def test_settings_of_another_type_or_that_do_not_fit_are_refused(text):
    with pytest.raises(
        (ValueError, TypeError), match=f"^PPOConfig: {re.escape(text)}$"
    ):
        PPOConfig(**REFUSED[text])
