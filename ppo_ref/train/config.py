"""Every setting of a run, each with its unit, its default and what it must be."""

import dataclasses
import math
from dataclasses import dataclass, field
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any

PRECISIONS = ("float32", "bfloat16")
BOUNDS = {
    "least": (ge, "at least"),
    "above": (gt, "above"),
    "most": (le, "at most"),
    "below": (lt, "below"),
}
# Of a network and of a batch: more is a slip of the finger, and would take all memory
# of the machine before anything is refused.
MOST_WEIGHTS, MOST_TOKENS = 10**8, 10**7


def setting(
    default: Any, help: str, least: float | None = None, **bounds: float
) -> Any:
    """A field of settings: its default, what it is, and its bounds."""
    bounds = bounds if least is None else {"least": least, **bounds}
    return field(default=default, metadata={"help": help, **bounds})


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """The settings of one run; refused as a whole if a number cannot be.

    Example:
        >>> PPOConfig(batch_size=100, mini_batch_size=64)
        Traceback (most recent call last):
        ValueError: PPOConfig: batch_size must be a multiple of mini_batch_size 64, \
got 100
    """

    seed: int = setting(0, "of every random draw", 0)
    precision: str = setting("float32", "of matrix products: float32 or bfloat16")
    width: int = setting(64, "of the hidden states of actor and critic", 1)
    layers: int = setting(2, "of actor and critic", 1)
    heads: int = setting(4, "of the attention; width must be a multiple", 1)
    warm_start_steps: int = setting(300, "steps of imitation before PPO", 0)
    warm_start_batch_size: int = setting(128, "demonstrations per step", 1)
    warm_start_lr: float = setting(
        3e-3, "peak learning rate of the imitation", above=0, below=math.inf
    )
    error_rate: float = setting(0.6, "share of wrong demonstrations", 0, most=1)
    right_score: float = setting(1.0, "of a right response, reward units")
    wrong_score: float = setting(0.0, "of a wrong or truncated one, reward units")
    reward_model_steps: int = setting(
        0, "steps of training a reward model, which then scores instead of the rule", 0
    )
    iterations: int = setting(100, "of rollout and update", 1)
    batch_size: int = setting(256, "responses per iteration", 1)
    responses_per_prompt: int = setting(1, "to each question of a batch", 1)
    mini_batch_size: int = setting(64, "responses per optimizer step", 1)
    micro_batch_size: int = setting(64, "responses per backward pass", 1)
    actor_epochs: int = setting(1, "passes over each batch", 1)
    critic_epochs: int = setting(1, "passes over each batch; 0: no critic", 0)
    critic_warm_up: int = setting(
        0, "first iterations, in which the critic learns and the actor does not", 0
    )
    response_length: int = setting(8, "most tokens of a response, its end included", 1)
    temperature: float = setting(1.0, "of the sampling", above=0, below=math.inf)
    trained_temperature: float = setting(
        0.0,
        "of the log-probs that are trained on; 0 is that of the sampling, and any "
        "other is a mistake worth seeing",
        0,
        below=math.inf,
    )
    actor_lr: float = setting(
        7e-4, "first learning rate of the actor; falls to 0", 0, below=math.inf
    )
    critic_lr: float = setting(
        1e-3, "first learning rate of the critic; falls to 0", 0, below=math.inf
    )
    gamma: float = setting(1.0, "discount per token", 0, most=1)
    gae_lambda: float = setting(0.95, "0 bootstraps fully, 1 not at all", 0, most=1)
    clip_range: float = setting(0.2, "how far the ratio counts around 1", 0, below=1)
    value_clip_range: float = setting(0.5, "of the critic, in reward units", 0)
    kl_coef: float = setting(
        0.02, "price of KL in the reward, reward units per nat", 0, below=math.inf
    )
    kl_target: float = setting(
        1.0,
        "nats per response, where an adaptive kl_coef keeps the KL",
        above=0,
        below=math.inf,
    )
    kl_horizon: float = setting(
        math.inf, "responses in which kl_coef moves by a fifth; inf: fixed", above=0
    )
    kl_loss_coef: float = setting(
        0.0, "weight of KL (k3) in the actor's loss", 0, below=math.inf
    )
    entropy_coef: float = setting(
        0.0, "weight of the entropy in the actor's loss", 0, below=math.inf
    )
    max_kl: float = setting(
        math.inf, "nats per token beyond which the actor's update stops", above=0
    )
    rollout_weight_cap: float = setting(
        2.0, "greatest weight of a token for rollout and trainer differing", above=0
    )
    max_grad_norm: float = setting(1.0, "gradients are scaled down to it", above=0)
    evaluate_every: int = setting(
        25, "iterations between two looks at held-out questions", 1
    )

    def __post_init__(self) -> None:
        require_settings("PPOConfig", self)
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"PPOConfig: precision must be one of {', '.join(PRECISIONS)}, "
                f"got {self.precision!r}"
            )
        weights = 12 * self.width**2 * self.layers
        if weights > MOST_WEIGHTS:
            raise ValueError(
                f"PPOConfig: width and layers must make at most {MOST_WEIGHTS} "
                f"weights, got {Decimal(weights):.2g}"
            )
        rows = max(self.batch_size, self.warm_start_batch_size)
        if (tokens := rows * self.response_length) > MOST_TOKENS:
            raise ValueError(
                "PPOConfig: batch_size, warm_start_batch_size and response_length "
                f"must make at most {MOST_TOKENS} tokens of a batch, got "
                f"{Decimal(tokens):.2g}"
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
        if self.critic_warm_up and not self.critic_epochs:
            raise ValueError(
                "PPOConfig: critic_warm_up must be 0 without critic_epochs, got "
                f"{self.critic_warm_up}"
            )
        if self.kl_horizon <= self.batch_size / 5:
            raise ValueError(
                f"PPOConfig: kl_horizon must be above a fifth of batch_size "
                f"{self.batch_size}, got {self.kl_horizon}"
            )

    @property
    def log_prob_temperature(self) -> float:
        """Of the log-probs that the update compares: as a rule that of the sampling."""
        return self.trained_temperature or self.temperature


def require_settings(function: str, settings: Any) -> None:
    """Refuse a field of another type than its own, or outside its bounds."""
    for one in dataclasses.fields(settings):
        name, value, kind = one.name, getattr(settings, one.name), one.type
        fits: Any = (int, float) if kind is float else kind
        if not isinstance(value, fits) or isinstance(value, bool) != (kind is bool):
            named = "an int" if kind is int else f"a {type(one.default).__name__}"
            raise TypeError(
                f"{function}: {name} must be {named}, "
                f"got {type(value).__name__} {value!r}"
            )
        for bound, (holds, words) in BOUNDS.items():
            limit = one.metadata.get(bound)
            if limit is not None and not holds(value, limit):
                must = "finite" if limit == math.inf else f"{words} {limit}"
                raise ValueError(f"{function}: {name} must be {must}, got {value}")
