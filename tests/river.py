"""Calls of the river's functions, and tensors that lie in named tuples."""

from typing import Any

import torch
from torch import Tensor

from ppo_ref.training.estimates import whitened_gae
from ppo_ref.training.experience import collect_experience
from ppo_ref.training.networks import actor_statistics, critic_values
from ppo_ref.training.reward import model_scores, reward_model_step, rule
from ppo_ref.training.rollout import as_rollout, sample_responses
from ppo_ref.training.statistics import experience_statistics
from ppo_ref.training.trainer import tiny_trainer

TRAINER = tiny_trainer()
EXPERIENCE = next(TRAINER.train()).experience
MODELS, ROLLOUT = TRAINER.models, EXPERIENCE.rollout
QUESTIONS = TRAINER.questions.train[:4]
PROMPTS = TRAINER.tokenizer.prompts([question.text for question in QUESTIONS])
READ = {"rollout": ROLLOUT}


def optimizer(network: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(network.parameters(), lr=0.0)


RIVER_CALLS = [
    (
        sample_responses,
        {"actor": MODELS.actor, "prompts": PROMPTS, "response_length": 3},
    ),
    (
        as_rollout,
        {
            "prompts": PROMPTS,
            "responses": ROLLOUT.responses,
            "rollout_log_probs": ROLLOUT.rollout_log_probs,
        },
    ),
    (actor_statistics, {"actor": MODELS.actor, **READ}),
    (critic_values, {"critic": MODELS.critic, **READ}),
    (model_scores, {"reward": MODELS.reward, **READ}),
    (
        reward_model_step,
        {
            "reward": MODELS.critic,
            "optimizer": optimizer(MODELS.critic),
            **READ,
            "right": torch.tensor([True, False, False, True]),
        },
    ),
    (
        collect_experience,
        {
            "models": MODELS,
            "questions": QUESTIONS,
            "prompts": PROMPTS,
            "reward": rule(TRAINER.tokenizer, wrong=-1),
            "estimate": whitened_gae,
            "config": TRAINER.config,
            "generator": torch.Generator(),
        },
    ),
    (experience_statistics, {"experience": EXPERIENCE}),
]


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


def at(inputs: dict[str, Any], name: str) -> Tensor:
    return tensors_in(inputs)[name]


def having(inputs: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The same call with something else under a name of ``tensors_in``."""
    first, _, rest = name.partition(".")
    if rest:
        owner = inputs[first]
        value = type(owner)(**having(owner._asdict(), rest, value))
    return {**inputs, first: value}
