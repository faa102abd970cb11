"""Every setting: its default, its bounds, and in what words it is refused."""

import dataclasses
import math
import re

import pytest

from ppo_ref.training.config import PPOConfig

# Stored runs and pages rest on these: to change one is to make them again.
DEFAULTS = {
    "seed": 0,
    "precision": "float32",
    "width": 64,
    "layers": 2,
    "heads": 4,
    "warm_start_steps": 300,
    "warm_start_batch_size": 128,
    "warm_start_lr": 3e-3,
    "error_rate": 0.6,
    "right_score": 1.0,
    "wrong_score": 0.0,
    "reward_model_steps": 0,
    "iterations": 100,
    "batch_size": 256,
    "responses_per_prompt": 1,
    "mini_batch_size": 64,
    "micro_batch_size": 64,
    "actor_epochs": 1,
    "critic_epochs": 1,
    "response_length": 8,
    "temperature": 1.0,
    "actor_lr": 7e-4,
    "critic_lr": 1e-3,
    "gamma": 1.0,
    "gae_lambda": 0.95,
    "clip_range": 0.2,
    "value_clip_range": 0.5,
    "kl_coef": 0.02,
    "kl_target": 1.0,
    "kl_horizon": math.inf,
    "kl_loss_coef": 0.0,
    "entropy_coef": 0.0,
    "max_kl": math.inf,
    "rollout_weight_cap": 2.0,
    "max_grad_norm": 1.0,
    "evaluate_every": 25,
}
AT_LEAST_0 = (
    *("seed", "warm_start_steps", "error_rate", "reward_model_steps", "actor_lr"),
    *("critic_lr", "gamma", "gae_lambda", "clip_range", "value_clip_range", "kl_coef"),
    *("kl_loss_coef", "entropy_coef", "critic_epochs"),
)
AT_LEAST_1 = (
    *("width", "layers", "heads", "warm_start_batch_size", "iterations", "batch_size"),
    *("mini_batch_size", "micro_batch_size", "actor_epochs"),
    "responses_per_prompt",
    *("response_length", "evaluate_every"),
)
ABOVE_0 = (
    *("warm_start_lr", "temperature", "max_kl", "rollout_weight_cap", "max_grad_norm"),
    "kl_target",
)
AT_MOST_1 = ("error_rate", "gamma", "gae_lambda")
BELOW_1 = ("clip_range",)
ANY_NUMBER = ("right_score", "wrong_score")
# A batch of 1 can be divided by a mini-batch of 1 alone, and so on.
ALL_ONE = {
    name: 1
    for name in ("width", "heads", "batch_size", "mini_batch_size", "micro_batch_size")
}


def test_defaults():
    assert dataclasses.asdict(PPOConfig()) == DEFAULTS


def test_every_number_has_its_bound_here():
    lower = {*AT_LEAST_0, *AT_LEAST_1, *ABOVE_0, *ANY_NUMBER}
    lower |= {"kl_horizon"}  # the batch sets it
    assert lower == DEFAULTS.keys() - {"precision"}


@pytest.mark.parametrize(
    ("name", "words", "bound", "within", "beyond"),
    [
        *[(name, "at least", 0, 0, -1) for name in AT_LEAST_0],
        *[(name, "at least", 1, 1, 0) for name in AT_LEAST_1],
        *[(name, "above", 0, 5e-324, 0) for name in ABOVE_0],
        *[(name, "at most", 1, 1, 1.0000001) for name in AT_MOST_1],
        *[(name, "below", 1, 0.9999999, 1.0) for name in BELOW_1],
    ],
)
def test_a_number_may_go_to_its_bound_and_not_beyond(
    name, words, bound, within, beyond
):
    assert getattr(PPOConfig(**{**ALL_ONE, name: within}), name) == within
    text = f"PPOConfig: {name} must be {words} {bound}, got {beyond}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        PPOConfig(**{name: beyond})


def test_a_setting_is_fixed_and_named():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PPOConfig().seed = 1
    with pytest.raises(TypeError, match="positional"):
        PPOConfig(1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"batch_size": 100},
            "batch_size must be a multiple of mini_batch_size 64, got 100",
        ),
        (
            {"mini_batch_size": 32, "micro_batch_size": 24},
            "mini_batch_size must be a multiple of micro_batch_size 24, got 32",
        ),
        ({"width": 10, "heads": 4}, "width must be a multiple of heads 4, got 10"),
        ({"response_length": 0}, "response_length must be at least 1, got 0"),
        ({"temperature": 0}, "temperature must be above 0, got 0"),
        ({"temperature": math.nan}, "temperature must be above 0, got nan"),
        ({"gamma": 1.5}, "gamma must be at most 1, got 1.5"),
        ({"clip_range": 1.0}, "clip_range must be below 1, got 1.0"),
        ({"kl_coef": -0.1}, "kl_coef must be at least 0, got -0.1"),
        ({"max_kl": 0}, "max_kl must be above 0, got 0"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        (
            {"responses_per_prompt": 3},
            "batch_size must be a multiple of responses_per_prompt 3, got 256",
        ),
        ({"kl_horizon": 0}, "kl_horizon must be above 0, got 0"),
        (
            {"kl_horizon": 51},
            "kl_horizon must be above a fifth of batch_size 256, got 51",
        ),
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
def test_a_setting_that_cannot_be_is_refused(options, told):
    with pytest.raises(ValueError, match=f"^{re.escape(f'PPOConfig: {told}')}$"):
        PPOConfig(**options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"batch_size": 256.0}, "batch_size must be an int, got float 256.0"),
        ({"seed": True}, "seed must be an int, got bool True"),
        ({"gamma": "1"}, "gamma must be a float, got str '1'"),
        ({"kl_coef": None}, "kl_coef must be a float, got NoneType None"),
        ({"precision": 32}, "precision must be a str, got int 32"),
    ],
)
def test_a_setting_of_another_type_is_refused(options, told):
    with pytest.raises(TypeError, match=f"^{re.escape(f'PPOConfig: {told}')}$"):
        PPOConfig(**options)
