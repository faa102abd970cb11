"""Every setting of a run, each with its unit, its default and what it must be."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import ge, gt, le, lt
from typing import Any

PRECISIONS = ("float32", "bfloat16")


def _setting(
    default: Any, help: str, least: float | None = None, **bounds: float
) -> Any:
    bounds = bounds if least is None else {"least": least, **bounds}
    return field(default=default, metadata={"help": help, **bounds})


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """What one run does; refused as a whole if a number cannot be.

    Example:
        >>> PPOConfig(batch_size=100, mini_batch_size=64)
        Traceback (most recent call last):
        ValueError: PPOConfig: batch_size must be a multiple of mini_batch_size 64, \
got 100
    """

    seed: int = _setting(0, "of every random draw", 0)
    precision: str = _setting("float32", "of matrix products: float32 or bfloat16")
    width: int = _setting(64, "of the hidden states of actor and critic", 1)
    layers: int = _setting(2, "of actor and critic", 1)
    heads: int = _setting(4, "of the attention; width must be a multiple", 1)
    warm_start_steps: int = _setting(300, "steps of imitation before PPO", 0)
    warm_start_batch_size: int = _setting(128, "demonstrations per step", 1)
    warm_start_lr: float = _setting(
        3e-3, "peak learning rate of the imitation", above=0
    )
    error_rate: float = _setting(0.6, "share of wrong demonstrations", 0, most=1)
    right_score: float = _setting(1.0, "of a right response, reward units")
    wrong_score: float = _setting(0.0, "of a wrong or truncated one, reward units")
    reward_model_steps: int = _setting(
        0, "steps of training a reward model, which then scores instead of the rule", 0
    )
    iterations: int = _setting(100, "of rollout and update", 1)
    batch_size: int = _setting(256, "responses per iteration", 1)
    responses_per_prompt: int = _setting(1, "to each question of a batch", 1)
    mini_batch_size: int = _setting(64, "responses per optimizer step", 1)
    micro_batch_size: int = _setting(64, "responses per backward pass", 1)
    actor_epochs: int = _setting(1, "passes over each batch", 1)
    critic_epochs: int = _setting(1, "passes over each batch; 0: no critic", 0)
    response_length: int = _setting(8, "most tokens of a response, its end included", 1)
    temperature: float = _setting(1.0, "of the sampling", above=0)
    actor_lr: float = _setting(7e-4, "first learning rate of the actor; falls to 0", 0)
    critic_lr: float = _setting(
        1e-3, "first learning rate of the critic; falls to 0", 0
    )
    gamma: float = _setting(1.0, "discount per token", 0, most=1)
    gae_lambda: float = _setting(0.95, "0 bootstraps fully, 1 not at all", 0, most=1)
    clip_range: float = _setting(0.2, "how far the ratio counts around 1", 0, below=1)
    value_clip_range: float = _setting(0.5, "of the critic, in reward units", 0)
    kl_coef: float = _setting(
        0.02, "price of KL in the reward, reward units per nat", 0
    )
    kl_target: float = _setting(
        1.0, "nats per response, where an adaptive kl_coef keeps the KL", above=0
    )
    kl_horizon: float = _setting(
        math.inf, "responses in which kl_coef moves by a fifth; inf: fixed", above=0
    )
    kl_loss_coef: float = _setting(0.0, "weight of KL (k3) in the actor's loss", 0)
    entropy_coef: float = _setting(0.0, "weight of the entropy in the actor's loss", 0)
    max_kl: float = _setting(
        math.inf, "nats per token beyond which the actor's update stops", above=0
    )
    rollout_weight_cap: float = _setting(
        2.0, "greatest weight of a token for rollout and trainer differing", above=0
    )
    max_grad_norm: float = _setting(1.0, "gradients are scaled down to it", above=0)
    evaluate_every: int = _setting(
        25, "iterations between two looks at held-out questions", 1
    )

    def __post_init__(self) -> None:
        for setting in dataclasses.fields(self):
            _require_type(setting.name, getattr(self, setting.name), setting.type)
            _require(setting.name, getattr(self, setting.name), setting.metadata)
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"PPOConfig: precision must be one of {', '.join(PRECISIONS)}, "
                f"got {self.precision!r}"
            )
        for whole, part in (
            ("width", "heads"),
            ("batch_size", "responses_per_prompt"),
            ("batch_size", "mini_batch_size"),
            ("mini_batch_size", "micro_batch_size"),
        ):
            if getattr(self, whole) % getattr(self, part):
                raise ValueError(
                    f"PPOConfig: {whole} must be a multiple of {part} "
                    f"{getattr(self, part)}, got {getattr(self, whole)}"
                )
        if self.kl_horizon <= self.batch_size / 5:
            raise ValueError(
                f"PPOConfig: kl_horizon must be above a fifth of batch_size "
                f"{self.batch_size}, got {self.kl_horizon}"
            )


def _require_type(name: str, value: Any, kind: Any) -> None:
    fits = (int, float) if kind is float else kind
    if not isinstance(value, fits) or isinstance(value, bool):
        article = "an" if kind is int else "a"
        raise TypeError(
            f"PPOConfig: {name} must be {article} {kind.__name__}, "
            f"got {type(value).__name__} {value!r}"
        )


def _require(name: str, number: float, bounds: Mapping[str, float]) -> None:
    holds = {"least": ge, "above": gt, "most": le, "below": lt}
    words = {"least": "at least", "above": "above", "most": "at most", "below": "below"}
    for kind, bound in bounds.items():
        if kind in holds and not holds[kind](number, bound):
            raise ValueError(
                f"PPOConfig: {name} must be {words[kind]} {bound}, got {number}"
            )
