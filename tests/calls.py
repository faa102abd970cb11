"""One accepted call of every checked function: the start of each refusal."""

from typing import Any

import torch
from torch import Tensor

from ppo_ref import (
    advantages,
    aggregation,
    alignment,
    chunked,
    clip_variants,
    diagnostics,
    group_advantages,
    kl,
    log_probs,
    losses,
    masking,
    rewards,
    rollout_correction,
)
from ppo_ref.batch import TokenStatistics
from ppo_ref.trace import trace
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.estimates import whitened_gae
from ppo_ref.training.experience import collect_experience
from ppo_ref.training.networks import actor_statistics, critic_values
from ppo_ref.training.reward import model_scores, rule
from ppo_ref.training.rollout import sample_responses
from ppo_ref.training.statistics import experience_statistics
from ppo_ref.training.tasks import CHARACTERS, Question
from ppo_ref.training.tokenizer import CharacterTokenizer
from tests import networks

X = torch.linspace(-1, 1, 12).view(2, 6)
MASK = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
IDS = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 1, 1, 1, 1, 1]])
LOGITS = torch.zeros(2, 6, 5)
KEPT = torch.ones(2, 6, 5, dtype=torch.bool)
HEAD = {
    "hidden": torch.linspace(-1, 1, 36).view(2, 6, 3),
    "head_weight": torch.linspace(-1, 1, 15).view(5, 3),
    "head_bias": torch.zeros(5),
    "responses": IDS,
}
REWARDED = {"token_level_rewards": X, "values": X, "response_mask": MASK}
WITHOUT_VALUES = {"token_level_rewards": X, "response_mask": MASK}
GROUPED = {**WITHOUT_VALUES, "groups": torch.tensor([5, 5])}
RATIO = {"log_probs": X, "old_log_probs": X.flip(0), "response_mask": MASK}
SAMPLED = {**RATIO, "old_log_probs": X, "advantages": X}
ELSEWHERE = {
    "old_log_probs": X,
    "rollout_log_probs": X.flip(0),
    "response_mask": MASK,
}
DIVERGENCE = {"log_probs": X, "ref_log_probs": X}
CONTROLLED = {"kl_coef": 0.1, "kl": 2.0, "target": 1.0, "horizon": 1e4, "steps": 64}


def minus_log_likelihood(said: TokenStatistics, rows: slice) -> Tensor:
    return -said.log_probs.sum()


# Without an optimizer: to make the first takes seconds of every process that collects.
MODELS, PROMPTS = networks.models(), networks.prompts(3, 1, 4, 2)
EXPERIENCE = networks.experience(MODELS.actor, 3, 5, 4, 9)
ROLLOUT = EXPERIENCE.rollout

SAMPLING = {"actor": MODELS.actor, "prompts": PROMPTS, "response_length": 3}
TRAINING = {
    sample_responses: SAMPLING,
    actor_statistics: {"actor": MODELS.actor, "rollout": ROLLOUT},
    critic_values: {"critic": MODELS.critic, "rollout": ROLLOUT},
    model_scores: {"reward": MODELS.reward, "rollout": ROLLOUT},
    whitened_gae: {**REWARDED, "gamma": 1, "gae_lambda": 0.95},
    collect_experience: {
        "models": MODELS,
        "questions": [Question("1+1=", 1, 1)] * 4,
        "prompts": PROMPTS,
        "reward": rule(CharacterTokenizer(CHARACTERS), wrong=-1),
        "estimate": whitened_gae,
        "config": PPOConfig(response_length=6),
        "generator": torch.Generator(),
    },
    experience_statistics: {"experience": EXPERIENCE},
}

GROUPS = ("grpo", "dr_grpo", "rloo", "reinforce_plus_plus_baseline")
REDUCTIONS = ("sum", "mean", "variance", "whiten")
MEANS = ("token_mean", "sequence_mean_token_mean", "sequence_mean_token_sum")
CLIP_VARIANTS = ("gspo_loss", "gmpo_loss", "cispo_loss", "sapo_loss")
CORRECTIONS = (
    *("token_weights", "sequence_weights"),
    *("accepted_tokens", "accepted_sequences", "accepted_by_geometric_mean"),
)
VALID: dict[Any, dict[str, Any]] = {
    **TRAINING,
    advantages.gae: REWARDED,
    advantages.length_adaptive_advantages: REWARDED,
    advantages.td_residuals: REWARDED,
    advantages.n_step_advantages: {**REWARDED, "steps": 2},
    advantages.monte_carlo_returns: WITHOUT_VALUES,
    trace: REWARDED,
    **{getattr(group_advantages, name): GROUPED for name in GROUPS},
    group_advantages.reinforce_plus_plus: WITHOUT_VALUES,
    losses.policy_loss: SAMPLED,
    **{getattr(clip_variants, name): SAMPLED for name in CLIP_VARIANTS},
    losses.surrogate_objective: SAMPLED,
    losses.value_loss: {
        "values": X,
        "old_values": X,
        "returns": X,
        "response_mask": MASK,
        "value_clip_range": 0.2,
    },
    rewards.token_level_rewards: {
        "token_level_scores": X,
        "kl": X,
        "response_mask": MASK,
        "kl_coef": 0.1,
    },
    rewards.token_level_scores: {"scores": X[:, 0], "response_mask": MASK},
    rewards.turn_level_scores: {
        "scores": torch.eye(1, 6).repeat(2, 1),
        "response_mask": MASK,
    },
    alignment.response_values: {
        "sequence_values": torch.zeros(2, 9),
        "response_mask": MASK,
    },
    alignment.response_mask: {"responses": IDS, "eos_token_id": 2},
    alignment.response_outputs: {"outputs": torch.zeros(2, 9), "response_length": 6},
    alignment.last_token: {"response_mask": MASK},
    alignment.slot_after_end: {"response_mask": MASK},
    alignment.turn_numbers: {"response_mask": MASK},
    diagnostics.explained_variance: {
        "values": X.flip(0),
        "returns": X,
        "response_mask": MASK,
    },
    diagnostics.effective_sample_size: {"weights": X.exp(), "response_mask": MASK},
    diagnostics.ratio_statistics: RATIO,
    diagnostics.rollout_mismatch: ELSEWHERE,
    **{getattr(rollout_correction, name): ELSEWHERE for name in CORRECTIONS},
    log_probs.token_log_probs: {"logits": LOGITS, "responses": IDS},
    log_probs.token_entropy: {"logits": LOGITS},
    log_probs.kept_tokens: {"logits": LOGITS},
    log_probs.kept_log_probs: {"logits": LOGITS, "responses": IDS, "kept": KEPT},
    log_probs.log_probs_and_entropy: {"logits": LOGITS, "responses": IDS},
    chunked.log_probs_and_entropy_from_hidden: HEAD,
    chunked.loss_from_hidden: {
        **HEAD,
        "response_mask": MASK,
        "loss": minus_log_likelihood,
    },
    **{getattr(kl, name): DIVERGENCE for name in ("kl_k1", "kl_k2", "kl_k3")},
    kl.kl_k3_times_ratio: {**DIVERGENCE, "old_log_probs": X.flip(0)},
    kl.adaptive_kl_coef: CONTROLLED,
    **{
        getattr(masking, f"masked_{name}"): {"x": X, "response_mask": MASK}
        for name in REDUCTIONS
    },
    **{
        getattr(aggregation, name): {"losses": X, "response_mask": MASK}
        for name in (*MEANS, "token_sum")
    },
}


def tensors_in(inputs: dict[str, Any]) -> dict[str, Tensor]:
    """All tensors of a call; one in a named tuple as ``rollout.sequences``."""
    found = {}
    for name, value in inputs.items():
        if isinstance(value, Tensor):
            found[name] = value
        elif hasattr(value, "_fields"):
            inner = tensors_in(value._asdict())
            found |= {f"{name}.{field}": tensor for field, tensor in inner.items()}
    return found


def having(inputs: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The same call with something else under a name of ``tensors_in``."""
    first, _, rest = name.partition(".")
    if rest:
        owner = inputs[first]
        value = type(owner)(**having(owner._asdict(), rest, value))
    return {**inputs, first: value}
