"""Refusals: of tensors of another kind or shape, and of values."""

import re
from typing import Any

import pytest
import torch

from ppo_ref import aggregation, masking
from ppo_ref.advantages import gae
from ppo_ref.alignment import response_mask, response_outputs
from ppo_ref.chunked import loss_from_hidden
from ppo_ref.clip_variants import cispo_loss, gmpo_loss, gspo_loss, sapo_loss
from ppo_ref.group_advantages import grpo
from ppo_ref.kl import adaptive_kl_coef
from ppo_ref.log_probs import kept_log_probs, kept_tokens, token_log_probs
from ppo_ref.losses import policy_loss, surrogate_objective, value_loss
from ppo_ref.require import require_finite
from ppo_ref.rewards import token_level_scores
from ppo_ref.rollout_correction import accepted_tokens, token_weights
from ppo_ref.trace import trace
from tests.calls import (
    HEAD,
    IDS,
    KEPT,
    MASK,
    REWARDED,
    SAMPLED,
    VALID,
    X,
    having,
    tensors_in,
)

MEANS = ("token_mean", "sequence_mean_token_mean", "sequence_mean_token_sum")


def refused(error: type[Exception], function: Any, inputs: Any, text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(f'{function.__name__}: {text}')}$"):
        function(**inputs)


def refused_at(
    error: type[Exception], function: Any, name: str, value: Any, text: str
) -> None:
    inputs = having(VALID[function], name, value)
    refused(error, function, inputs, f"{name} {text}")


FLOATING = "must be a floating-point tensor"
BOOL = (
    "must be a bool tensor (True = the token counts), got float32; write "
    "response_mask.bool()"
)
INTEGER = "must be an int32 or int64 tensor (ids), got uint8"
SHAPED, TWO = "of shape [batch, time]", "2 axes [batch, time]"
FEATURES = "must have at least 2 axes [batch, sequence, *features]"
LIKE_REWARDS = "must have shape [batch, time] = [2, 6] like token_level_rewards, got"
BATCH = "must have batch 2 like token_level_rewards"
HALF = (
    "must be bfloat16, float32 or float64, got float16, whose gradient would be lost "
    "before the loss can be scaled; use log_probs_and_entropy_from_hidden"
)
# Each wording once.
TYPES = [
    (gae, "values", X.long(), f"{FLOATING}, got int64; write values.float()"),
    (gae, "values", [[1], [2, 3]], f"{FLOATING} {SHAPED}, got list [[1], [2, 3]]"),
    (gae, "values", X[..., None], f"must have {TWO}, got 3 axes [2, 6, 1]"),
    (gae, "values", X.T, f"{LIKE_REWARDS} [6, 2]"),
    (gae, "bootstrap_values", X[0, :3], f"{BATCH}, got 3"),
    (gae, "response_mask", X, BOOL),
    (token_log_probs, "responses", IDS.byte(), f"{INTEGER}; write responses.long()"),
    (token_log_probs, "responses", IDS[:, 1:], "must have time 6 like logits, got 5"),
    (response_outputs, "outputs", X[0], f"{FEATURES}, got 1 axis [6]"),
    (loss_from_hidden, "hidden", HEAD["hidden"].half(), HALF),
]


@pytest.mark.parametrize(("function", "name", "value", "text"), TYPES)
def test_type_and_shape(function, name, value, text):
    refused_at(TypeError, function, name, value, text)


def test_tensors_on_several_devices():
    text = (
        "response_mask is on meta but token_level_rewards is on cpu; move both to "
        "one device"
    )
    refused(ValueError, gae, {**REWARDED, "response_mask": MASK.to("meta")}, text)


def test_int32_ids_and_ints_for_floats_pass():
    logits, ids = torch.tensor([[[0.0, 1.0]]]), torch.tensor([[1]])
    assert torch.equal(token_log_probs(logits, ids.int()), token_log_probs(logits, ids))
    gae(**REWARDED, gamma=1, gae_lambda=0)
    policy_loss(**SAMPLED, clip_range=(0, 1), dual_clip=3)


# A head has neither rows nor slots; values are judged where they have been shifted to.
NOT_BY_SLOT = {"head_weight", "head_bias", "sequence_values"}
# Whose name stands in a refusal of what another hands on.
JUDGES = {"trace": "td_residuals", "whitened_gae": "gae"}


@pytest.mark.parametrize(
    "function",
    [f for f, inputs in VALID.items() if "response_mask" in inputs],
    ids=lambda function: function.__name__,
)
def test_what_is_not_finite_inside_the_mask(function):
    inputs, name_of = VALID[function], function.__name__
    for name, tensor in tensors_in(inputs).items():
        if not tensor.is_floating_point() or name in NOT_BY_SLOT:
            continue
        position = (1, 3, 2)[: tensor.ndim]
        dirty = tensor.clone()
        dirty[position] = torch.nan
        row = "in rows with a token"
        where = row if dirty.ndim == 1 else "where response_mask is True"
        text = f"{name} must be finite {where}, got nan at {list(position)}"
        with pytest.raises(ValueError) as refusal:
            function(**having(inputs, name, dirty))
        assert str(refusal.value) == f"{JUDGES.get(name_of, name_of)}: {text}"


def test_what_does_not_count_is_not_refused():
    dirty, ends = torch.where(MASK, X, torch.nan), torch.tensor([0.0, torch.nan])
    gae(token_level_rewards=dirty, values=dirty, response_mask=MASK)
    policy_loss(**SAMPLED, rollout_weights=dirty.square())
    policy_loss(**SAMPLED, rollout_weights=torch.where(MASK, X.square(), -1))
    no_row = {**REWARDED, "response_mask": MASK & torch.tensor([[True], [False]])}
    gae(**no_row, bootstrap_values=ends)
    text = "bootstrap_values must be finite in rows with a token, got nan at [1]"
    refused(ValueError, gae, {**REWARDED, "bootstrap_values": ends}, text)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_a_sum_that_overflows_is_no_fault_and_infinities_do_not_cancel(dtype):
    largest = torch.full((2, 6), torch.finfo(dtype).max, dtype=dtype)
    require_finite("f", torch.ones_like(MASK), x=largest, y=-largest)
    x = torch.tensor([[torch.inf, -torch.inf]], dtype=dtype)
    with pytest.raises(ValueError, match=r"got inf at \[0, 0\]"):
        require_finite("f", x.isinf(), x=x)


def test_a_loss_that_overflows_is_refused_by_its_aggregation():
    inputs = {**SAMPLED, "advantages": X.sign() * 3e38, "old_log_probs": X + 2}
    text = "token_mean: losses must be finite where response_mask is True, got"
    with pytest.raises(ValueError, match=text):
        surrogate_objective(**{**inputs, "log_probs": X + 9})


def test_aggregation_to_something_else_than_a_number():
    number = "a number per batch, a floating-point tensor of shape []"
    for result, told in ((X[:, :3], "float32 of shape [2, 3]"), (0.5, "float 0.5")):
        inputs = {**SAMPLED, "aggregate": lambda losses, mask, result=result: result}
        text = f"aggregate must return {number}, got {told}"
        for loss in (policy_loss, gspo_loss, gmpo_loss, cispo_loss, sapo_loss):
            refused(TypeError, loss, inputs, text)


def test_a_loss_that_is_no_number():
    hidden = HEAD["hidden"].clone().requires_grad_()
    number = "a number with gradient, a floating-point tensor of shape []"
    for loss, told in (
        (lambda said, rows: 0.5, "float 0.5"),
        (lambda said, rows: said.log_probs, "float32 of shape [1, 6]"),
        (
            lambda said, rows: said.log_probs.detach().sum(),
            "float32 of shape [] without gradient",
        ),
    ):
        inputs = {**VALID[loss_from_hidden], "loss": loss, "hidden": hidden}
        text = f"loss must return {number}, got {told}"
        refused(TypeError, loss_from_hidden, inputs, text)


NONE, LONE = torch.zeros_like(MASK), torch.zeros_like(MASK)
LONE[0, 2] = True
ALONE = torch.tensor([7, -3])
ONE, TWO_TOKENS = (
    "must count at least 1 token, got 0",
    "must count at least 2 tokens, got 1",
)
EVERY_ROW = "must count a token in every row, got none in row 1"
COMPANY = (
    "must hold at least 2 rows each, got 1 row of group -3, which has nothing to be "
    "compared with"
)
SLOT = "must have at least 1 slot"
CLIP = "must lie in [0, 1) and [0, inf), got"
SHORTER = "must be at least 1 and less than the sequence length 9, got"
FIVE_HORIZONS = "must be below 5 times the horizon, 50000, got"
ABOVE_0, AT_LEAST_0 = "must be greater than 0, got", "must be at least 0, got"
# What each function asks of its values, each kind of it once or twice.
VALUES = [
    *[(getattr(aggregation, name), "response_mask", NONE, ONE) for name in MEANS],
    (policy_loss, "response_mask", NONE, ONE),
    (loss_from_hidden, "response_mask", NONE, ONE),
    (masking.masked_whiten, "response_mask", LONE, TWO_TOKENS),
    (token_level_scores, "response_mask", LONE, EVERY_ROW),
    (grpo, "response_mask", LONE, EVERY_ROW),
    (grpo, "groups", ALONE, COMPANY),
    (grpo, "epsilon", 0, f"{ABOVE_0} 0"),
    (gae, "gamma", 1.5, "must lie in [0, 1], got 1.5"),
    (gae, "gae_lambda", torch.nan, "must lie in [0, 1], got nan"),
    (adaptive_kl_coef, "kl", torch.nan, "must be finite, got nan"),
    (adaptive_kl_coef, "steps", 50_000, f"{FIVE_HORIZONS} 50000"),
    (policy_loss, "clip_range", 1, f"{CLIP} (1, 1)"),
    (policy_loss, "dual_clip", 1.0, "must be greater than 1, got 1.0"),
    (policy_loss, "rollout_weights", X, f"{AT_LEAST_0} -1.0 at [0, 0]"),
    (token_weights, "cap", torch.nan, f"{ABOVE_0} nan"),
    (accepted_tokens, "bounds", (2, 0.5), "must rise from at least 0, got (2, 0.5)"),
    (value_loss, "value_clip_range", -0.1, f"{AT_LEAST_0} -0.1"),
    (token_log_probs, "responses", IDS + 1, "must lie in [0, 5), got 5 at [0, 4]"),
    (token_log_probs, "temperature", 0, f"{ABOVE_0} 0"),
    (kept_tokens, "top_p", 1.5, "must lie in [0, 1], got 1.5"),
    (
        kept_log_probs,
        "kept",
        ~KEPT,
        "must hold a token in every slot, got none at [0, 0]",
    ),
    (loss_from_hidden, "responses", -IDS, "must lie in [0, 5), got -1 at [0, 1]"),
    (loss_from_hidden, "chunk_rows", 0, "must be at least 1, got 0"),
    (trace, "row", -1, "must lie in [0, 2), got -1"),
    (response_mask, "responses", IDS[:, :0], f"{SLOT} per row, got 0"),
    (response_outputs, "response_length", 9, f"{SHORTER} 9"),
]


@pytest.mark.parametrize(("function", "name", "value", "text"), VALUES)
def test_value(function, name, value, text):
    refused_at(ValueError, function, name, value, text)


def test_a_rollout_in_two_groups_or_alone_in_its_group():
    inputs = {**VALID[grpo], "rollouts": torch.tensor([4, 4])}
    text = "groups must hold at least 2 rollouts each, got 1 rollout of group 5, which"
    with pytest.raises(ValueError, match=f"grpo: {text}"):
        grpo(**inputs)
    text = "rollouts must lie in one group each, got rows of two groups in rollout 4"
    refused(ValueError, grpo, {**inputs, "groups": ALONE}, text)
