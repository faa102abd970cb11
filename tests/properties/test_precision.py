"""Half precision is computed and answered in float32; wider floats stay as they are."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.advantages import gae, monte_carlo_returns, n_step_advantages, td_residuals
from ppo_ref.aggregation import (
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from ppo_ref.alignment import response_values
from ppo_ref.diagnostics import (
    effective_sample_size,
    explained_variance,
    ratio_statistics,
    rollout_mismatch,
)
from ppo_ref.kl import kl_k1, kl_k2, kl_k3
from ppo_ref.log_probs import log_probs_and_entropy, token_entropy, token_log_probs
from ppo_ref.losses import policy_loss, surrogate_objective, value_loss
from ppo_ref.masking import masked_mean, masked_sum, masked_variance, masked_whiten
from ppo_ref.rewards import token_level_rewards, token_level_scores
from ppo_ref.rollout_correction import sequence_weights, token_weights
from tests.strategies import numbers

MASK = torch.tensor([[True, True, False, True], [True, False, True, False]])
IDS = torch.tensor([[0, 1, 2, 0], [2, 1, 0, 1]])


def reward_inputs(x: Tensor) -> dict[str, Tensor]:
    return {"token_level_rewards": x[0], "values": x[1], "response_mask": MASK}


def log_prob_inputs(x: Tensor) -> dict[str, Tensor]:
    return {"log_probs": x[0], "old_log_probs": x[1], "response_mask": MASK}


def engine_inputs(x: Tensor) -> dict[str, Tensor]:
    return {
        "old_log_probs": x[0],
        "rollout_log_probs": x[1],
        "response_mask": MASK,
    }


CALLS = {
    "gae": lambda x: gae(**reward_inputs(x), bootstrap_values=x[2, :, 0]),
    "td_residuals": lambda x: td_residuals(**reward_inputs(x)),
    "n_step_advantages": lambda x: n_step_advantages(**reward_inputs(x), steps=2),
    "monte_carlo_returns": lambda x: monte_carlo_returns(
        token_level_rewards=x[0], response_mask=MASK
    ),
    "token_mean": lambda x: token_mean(x[0], MASK),
    "token_sum": lambda x: token_sum(x[0], MASK),
    "sequence_mean_token_mean": lambda x: sequence_mean_token_mean(x[0], MASK),
    "sequence_mean_token_sum": lambda x: sequence_mean_token_sum(x[0], MASK),
    "kl_k1": lambda x: kl_k1(log_probs=x[0], ref_log_probs=x[1]),
    "kl_k2": lambda x: kl_k2(log_probs=x[0], ref_log_probs=x[1]),
    "kl_k3": lambda x: kl_k3(log_probs=x[0], ref_log_probs=x[1]),
    "log_probs_and_entropy": lambda x: log_probs_and_entropy(x.movedim(0, -1), IDS),
    "token_log_probs": lambda x: token_log_probs(x.movedim(0, -1), IDS),
    "token_entropy": lambda x: token_entropy(x.movedim(0, -1)),
    "policy_loss": lambda x: policy_loss(**log_prob_inputs(x), advantages=x[2]),
    "policy_loss, weighted": lambda x: policy_loss(
        **log_prob_inputs(x), advantages=x[2], rollout_weights=x[1].abs()
    ),
    "surrogate_objective": lambda x: surrogate_objective(
        **log_prob_inputs(x), advantages=x[2]
    ),
    "value_loss": lambda x: value_loss(
        values=x[0],
        old_values=x[1],
        returns=x[2],
        response_mask=MASK,
        value_clip_range=0.5,
    ),
    "masked_sum": lambda x: masked_sum(x[0], MASK),
    "masked_mean": lambda x: masked_mean(x[0], MASK),
    "masked_variance": lambda x: masked_variance(x[0], MASK),
    "masked_whiten": lambda x: masked_whiten(x[0], MASK),
    "token_level_scores": lambda x: token_level_scores(x[0, :, 0], MASK),
    "token_level_rewards": lambda x: token_level_rewards(
        token_level_scores=x[0], kl=x[1], response_mask=MASK, kl_coef=0.1
    ),
    "explained_variance": lambda x: explained_variance(
        values=x[0], returns=x[1], response_mask=MASK
    ),
    "effective_sample_size": lambda x: effective_sample_size(x[0].abs(), MASK),
    "ratio_statistics": lambda x: ratio_statistics(**log_prob_inputs(x)),
    "rollout_mismatch": lambda x: rollout_mismatch(**engine_inputs(x)),
    "token_weights": lambda x: token_weights(**engine_inputs(x)),
    "sequence_weights": lambda x: sequence_weights(**engine_inputs(x)),
    "response_values": lambda x: response_values(torch.cat([x[0], x[1]], 1), MASK),
}


def results(call, x: Tensor) -> tuple[Tensor, ...]:
    result = call(x)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(call, half):
    x = numbers(0, 3, 2, 4).to(half)
    for came, wanted in zip(results(call, x), results(call, x.float()), strict=True):
        assert came.dtype == torch.float32
        assert torch.equal(came, wanted)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_float64_stays_float64(call):
    x = numbers(1, 3, 2, 4)
    for came, near in zip(results(call, x), results(call, x.float()), strict=True):
        assert came.dtype == torch.float64
        assert_close(came.float(), near, rtol=1e-4, atol=1e-5)  # float32's rounding
