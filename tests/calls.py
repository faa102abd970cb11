"""One accepted call of every checked function: the start of each refusal."""

import torch

from ppo_ref import aggregation, kl, masking
from ppo_ref.advantages import gae, monte_carlo_returns, n_step_advantages, td_residuals
from ppo_ref.alignment import (
    last_token,
    response_mask,
    response_outputs,
    response_values,
    slot_after_end,
)
from ppo_ref.asserts.masks import assert_padding_ignored, assert_score_on_last_token
from ppo_ref.asserts.slices import (
    assert_log_probs_of_tokens,
    assert_values_before_tokens,
)
from ppo_ref.asserts.step_zero import assert_kl_zero, assert_ratio_one
from ppo_ref.asserts.targets import assert_return_to_go
from ppo_ref.asserts.updates import assert_same_gradient
from ppo_ref.batch import TokenStatistics
from ppo_ref.chunked import log_probs_and_entropy_from_hidden, loss_from_hidden
from ppo_ref.diagnostics import (
    effective_sample_size,
    explained_variance,
    ratio_statistics,
    rollout_mismatch,
)
from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from ppo_ref.kl import adaptive_kl_coef
from ppo_ref.log_probs import (
    log_probs_and_entropy,
    token_entropy,
    token_log_probs,
)
from ppo_ref.losses import policy_loss, surrogate_objective, value_loss
from ppo_ref.rewards import token_level_rewards, token_level_scores
from ppo_ref.rollout_correction import (
    accepted_sequences,
    accepted_tokens,
    sequence_weights,
    token_weights,
)
from ppo_ref.trace import trace
from ppo_ref.training.estimates import whitened_gae
from tests.river import RIVER_CALLS

X = torch.linspace(-1, 1, 12).view(2, 6)
MASK = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
IDS = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 1, 1, 1, 1, 1]])
LOGITS = torch.zeros(2, 6, 5)
HEAD = {
    "hidden": torch.linspace(-1, 1, 36).view(2, 6, 3),
    "head_weight": torch.linspace(-1, 1, 15).view(5, 3),
    "head_bias": torch.zeros(5),
}

REWARDED = {"token_level_rewards": X, "values": X, "response_mask": MASK}
SAMPLED = {
    "log_probs": X,
    "old_log_probs": X,
    "advantages": X,
    "response_mask": MASK,
}
REDUCED = {"x": X, "response_mask": MASK}
LOSSES = {"losses": X, "response_mask": MASK}
DIVERGENCE = {"log_probs": X, "ref_log_probs": X}
SAMPLED_ELSEWHERE = {
    "old_log_probs": X,
    "rollout_log_probs": X.flip(0),
    "response_mask": MASK,
}
SEQUENCES = torch.arange(18).view(2, 9) % 5
LAYER = torch.nn.Linear(1, 1)


def values_of(sequences: torch.Tensor) -> torch.Tensor:
    """Of a critic that adds up what it reads, cut where it belongs."""
    return sequences.cumsum(1)[:, -7:-1].float()


def log_probs_of(sequences: torch.Tensor) -> torch.Tensor:
    return sequences.cumsum(1)[:, -6:].float()


def minus_log_likelihood(said: TokenStatistics, rows: slice) -> torch.Tensor:
    return -said.log_probs.sum()


def backward(size: int) -> None:
    LAYER(torch.ones(2, 1)).mean().backward()


GROUPED = {
    "token_level_rewards": X,
    "response_mask": MASK,
    "groups": torch.tensor([5, 5]),
}
CONTROLLED = {"kl_coef": 0.1, "kl": 2.0, "target": 1.0, "horizon": 1e4, "steps": 64}
ESTIMATED = {**REWARDED, "gamma": 1, "gae_lambda": 0.95}

CALLS = [
    (
        assert_values_before_tokens,
        {"values": values_of, "sequences": SEQUENCES, "response_mask": MASK},
    ),
    (
        assert_log_probs_of_tokens,
        {"log_probs": log_probs_of, "sequences": SEQUENCES, "response_mask": MASK},
    ),
    (
        assert_padding_ignored,
        {"advantages": lambda x: 2 * x, "inputs": {"x": X}, "response_mask": MASK},
    ),
    (
        assert_score_on_last_token,
        {"token_level_scores": X * last_token(MASK), "response_mask": MASK},
    ),
    (assert_kl_zero, {"log_probs": X, "ref_log_probs": X, "response_mask": MASK}),
    (assert_ratio_one, {"log_probs": X, "old_log_probs": X, "response_mask": MASK}),
    (
        assert_return_to_go,
        {
            "advantages": -X,
            "values": X,
            "token_level_rewards": 0 * X,
            "response_mask": MASK,
        },
    ),
    (
        assert_same_gradient,
        {"model": LAYER, "backward": backward, "micro_batch_sizes": (2, 1)},
    ),
    *RIVER_CALLS,
    (whitened_gae, ESTIMATED),
    (gae, REWARDED),
    (td_residuals, REWARDED),
    (n_step_advantages, {**REWARDED, "steps": 2}),
    *[(f, GROUPED) for f in (grpo, dr_grpo, rloo, reinforce_plus_plus_baseline)],
    (reinforce_plus_plus, {"token_level_rewards": X, "response_mask": MASK}),
    (adaptive_kl_coef, CONTROLLED),
    (monte_carlo_returns, {"token_level_rewards": X, "response_mask": MASK}),
    (trace, REWARDED),
    (policy_loss, SAMPLED),
    (surrogate_objective, SAMPLED),
    (
        value_loss,
        {
            "values": X,
            "old_values": X,
            "returns": X,
            "response_mask": MASK,
            "value_clip_range": 0.2,
        },
    ),
    (
        token_level_rewards,
        {"token_level_scores": X, "kl": X, "response_mask": MASK, "kl_coef": 0.1},
    ),
    (token_level_scores, {"scores": X[:, 0], "response_mask": MASK}),
    (response_values, {"sequence_values": torch.zeros(2, 9), "response_mask": MASK}),
    (response_mask, {"responses": IDS, "eos_token_id": 2}),
    (response_outputs, {"outputs": torch.zeros(2, 9), "response_length": 6}),
    (
        explained_variance,
        {"values": X.flip(0), "returns": X, "response_mask": MASK},
    ),
    (effective_sample_size, {"weights": X.exp(), "response_mask": MASK}),
    (
        ratio_statistics,
        {"log_probs": X, "old_log_probs": X.flip(0), "response_mask": MASK},
    ),
    *[
        (function, SAMPLED_ELSEWHERE)
        for function in (
            rollout_mismatch,
            token_weights,
            sequence_weights,
            accepted_tokens,
            accepted_sequences,
        )
    ],
    (last_token, {"response_mask": MASK}),
    (slot_after_end, {"response_mask": MASK}),
    (token_log_probs, {"logits": LOGITS, "responses": IDS}),
    (token_entropy, {"logits": LOGITS}),
    (log_probs_and_entropy, {"logits": LOGITS, "responses": IDS}),
    (log_probs_and_entropy_from_hidden, {**HEAD, "responses": IDS}),
    (
        loss_from_hidden,
        {
            **HEAD,
            "responses": IDS,
            "response_mask": MASK,
            "loss": minus_log_likelihood,
        },
    ),
    *[(getattr(kl, name), DIVERGENCE) for name in ("kl_k1", "kl_k2", "kl_k3")],
    *[
        (getattr(masking, f"masked_{name}"), REDUCED)
        for name in ("sum", "mean", "variance", "whiten")
    ],
    *[
        (getattr(aggregation, name), LOSSES)
        for name in (
            "token_mean",
            "token_sum",
            "sequence_mean_token_mean",
            "sequence_mean_token_sum",
        )
    ],
]

VALID = {function: inputs for function, inputs in CALLS}
