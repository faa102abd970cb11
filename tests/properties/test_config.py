"""What a setting may be, and in what words it is refused: one of each kind of bound."""

import re

import pytest

from ppo_ref.training.config import PPOConfig

# A batch of 1 can be divided by a mini-batch of 1 alone, and so on.
SMALLEST = dict.fromkeys(
    ("width", "heads", "batch_size", "mini_batch_size", "micro_batch_size"), 1
)


def refused(error, told, **options):
    with pytest.raises(error, match=f"^{re.escape(f'PPOConfig: {told}')}$"):
        PPOConfig(**options)


@pytest.mark.parametrize(
    ("name", "words", "bound", "within", "beyond"),
    [
        ("kl_coef", "at least", 0, 0, -0.1),
        ("batch_size", "at least", 1, 1, 0),
        ("temperature", "above", 0, 5e-324, 0),
        ("gamma", "at most", 1, 1, 1.0000001),
        ("clip_range", "below", 1, 0.9999999, 1.0),
    ],
)
def test_a_number_may_go_to_its_bound_and_not_beyond(
    name, words, bound, within, beyond
):
    assert getattr(PPOConfig(**{**SMALLEST, name: within}), name) == within
    told = f"{name} must be {words} {bound}, got {beyond}"
    refused(ValueError, told, **{name: beyond})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"batch_size": 100},
            "batch_size must be a multiple of mini_batch_size 64, got 100",
        ),
        ({"width": 10, "heads": 4}, "width must be a multiple of heads 4, got 10"),
        (
            {"kl_horizon": 51.2},
            "kl_horizon must be above a fifth of batch_size 256, got 51.2",
        ),
        (
            {"precision": "float16"},
            "precision must be one of float32, bfloat16, got 'float16'",
        ),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(options, told):
    refused(ValueError, told, **options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"batch_size": 256.0}, "batch_size must be an int, got float 256.0"),
        ({"seed": True}, "seed must be an int, got bool True"),
        ({"gamma": "1"}, "gamma must be a float, got str '1'"),
    ],
)
def test_a_setting_of_another_type_is_refused(options, told):
    refused(TypeError, told, **options)
