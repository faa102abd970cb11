"""One accepted call of every checked function: the start of each refusal."""

import inspect
from typing import Any, get_args

import torch
from torch import Tensor

from ppo_ref.batch import TokenStatistics
from ppo_ref.diagnostics import explained_variance
from ppo_ref.kl import adaptive_kl_coef
from ppo_ref.rewards import turn_level_scores
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.estimates import whitened_gae
from ppo_ref.train.experience import collect_experience
from ppo_ref.train.networks import actor_statistics, critic_values
from ppo_ref.train.reward import model_scores, rule
from ppo_ref.train.rollout import sample_responses
from ppo_ref.train.statistics import experience_statistics
from ppo_ref.train.sums import CHARACTERS
from ppo_ref.train.tasks import Question
from ppo_ref.train.tokenizer import CharacterTokenizer
from tests import networks
from tests.test_docstrings import FUNCTIONS, is_stage

X = torch.linspace(-1, 1, 12).view(2, 6)
MASK = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
IDS = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 1, 1, 1, 1, 1]])
KEPT = torch.ones(2, 6, 5, dtype=torch.bool)
HEAD = {
    "hidden": torch.linspace(-1, 1, 36).view(2, 6, 3),
    "head_weight": torch.linspace(-1, 1, 15).view(5, 3),
    "head_bias": torch.zeros(5),
    "responses": IDS,
}
REWARDED = {"token_level_rewards": X, "values": X, "response_mask": MASK}
SAMPLED = {"log_probs": X, "old_log_probs": X, "advantages": X, "response_mask": MASK}


def minus_log_likelihood(said: TokenStatistics, rows: slice) -> Tensor:
    return -said.log_probs.sum()


# Without an optimizer: to make the first takes seconds of every process that collects.
MODELS, PROMPTS = networks.models(), networks.prompts(3, 1, 4, 2)
EXPERIENCE = networks.experience(MODELS.actor, 3, 5, 4, 9)
# What an argument of a name may be, in every function that asks for one.
BY_NAME = {
    **dict.fromkeys(("losses", "x", "kl", "token_level_scores"), X),
    "ref_log_probs": X.flip(0),
    **dict.fromkeys(("old_values", "returns"), X),
    **REWARDED,
    **SAMPLED,
    **HEAD,
    "groups": torch.tensor([5, 5]),
    "rollout_log_probs": X.flip(0),
    "scores": X[:, 0],
    "weights": X.exp(),
    "logits": torch.zeros(2, 6, 5),
    "kept": KEPT,
    "loss": minus_log_likelihood,
    **dict.fromkeys(("outputs", "sequence_values"), torch.zeros(2, 9)),
    **{"eos_token_id": 2, "response_length": 6, "steps": 2},
    **{"kl_coef": 0.1, "value_clip_range": 0.2, "gamma": 1, "gae_lambda": 0.95},
    "actor": MODELS.actor,
    "critic": MODELS.critic,
    "reward": MODELS.reward,
    "rollout": EXPERIENCE.rollout,
    "experience": EXPERIENCE,
    "prompts": PROMPTS,
}


def takes_tensors(function) -> bool:
    """True if a tensor is among its annotations."""
    annotations = inspect.get_annotations(inspect.unwrap(function)).values()
    return any(Tensor in (one, *get_args(one)) for one in annotations)


# The stages: what readers of pages call.
RIVER = {
    name: function
    for name, function in FUNCTIONS.items()
    if takes_tensors(function) and is_stage(name) and not name.startswith("loops.")
}


def call(function: Any, **others: Any) -> dict[str, Any]:
    """The arguments that a function must be given."""
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.name in BY_NAME]
    return {**{name: BY_NAME[name] for name in needed}, **others}


TRAINING = (
    *(sample_responses, actor_statistics, critic_values, model_scores),
    *(whitened_gae, experience_statistics),
)
VALID: dict[Any, dict[str, Any]] = {
    function: call(function) for function in (*RIVER.values(), *TRAINING)
} | {
    adaptive_kl_coef: call(adaptive_kl_coef, kl=2.0, target=1.0, horizon=1e4),
    explained_variance: call(explained_variance, returns=X.flip(0)),
    turn_level_scores: call(turn_level_scores, scores=torch.eye(1, 6).repeat(2, 1)),
    collect_experience: {
        "models": MODELS,
        "questions": [Question("1+1=", "1+1=2")] * 4,
        "prompts": PROMPTS,
        "reward": rule(CharacterTokenizer(CHARACTERS), wrong=-1),
        "estimate": whitened_gae,
        "config": PPOConfig(response_length=6),
        "generator": torch.Generator(),
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
