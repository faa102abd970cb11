"""Which runs are stored and which charts show them: one table of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """How a run is made: what it shows, options of the trainer, seed of all draws."""

    what: str
    options: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Line:
    """A stored run, and what it is called in a chart."""

    run: str
    zh: str
    en: str


@dataclass(frozen=True)
class Panel:
    """A statistic, and what it is called in a chart."""

    statistic: str
    zh: str
    en: str


@dataclass(frozen=True)
class Chart:
    """Panels in two columns, and in each of them every line."""

    panels: tuple[Panel, ...]
    lines: tuple[Line, ...]


_PENALTY = {"right_score": 0.0, "wrong_score": -1.0, "response_length": 24}
_LEARNED = {"reward_model_steps": 400}
_FOUR = {"responses_per_prompt": 4}
_NO_CRITIC = {"critic_epochs": 0}

# By the name that pages read it under, as in stored_run("name").
RUNS: dict[str, Run] = {
    "healthy": Run("The defaults.", {}, seed=0),
    "flipped_sign": Run(
        "Advantages with the wrong sign.", {"estimate": "flipped_sign"}, seed=0
    ),
    "shifted_values": Run(
        "The next token's value where a token's own belongs.",
        {"estimate": "shifted_values"},
        seed=0,
    ),
    "penalty": Run(
        "Right answers score 0, wrong ones -1, in 24 slots.", _PENALTY, seed=0
    ),
    "whitened_over_padding": Run(
        "As penalty, whitened over padding too.",
        {**_PENALTY, "estimate": "whitened_over_padding"},
        seed=0,
    ),
    "learned_reward": Run(
        "A reward model scores, and KL to the reference has its price.",
        {**_LEARNED, "kl_coef": 0.3},
        seed=0,
    ),
    "learned_reward_without_kl": Run(
        "A reward model scores, and KL costs nothing.",
        {**_LEARNED, "kl_coef": 0.0},
        seed=0,
    ),
    "four_responses": Run(
        "The defaults, but four responses to each of 64 questions.", _FOUR, seed=0
    ),
    "reinforce_plus_plus": Run(
        "No critic: returns, whitened over the batch.",
        {**_NO_CRITIC, "estimate": "reinforce_plus_plus"},
        seed=0,
    ),
    "grpo": Run(
        "No critic: four responses to each of 64 questions, compared by GRPO.",
        {**_FOUR, **_NO_CRITIC, "estimate": "grpo"},
        seed=0,
    ),
    "rloo": Run(
        "No critic: four responses to each of 64 questions, compared by RLOO.",
        {**_FOUR, **_NO_CRITIC, "estimate": "rloo"},
        seed=0,
    ),
}

# By the path of the picture below snippets, as in "pipeline/page_runs.svg".
CHARTS: dict[str, Chart] = {
    "debug/symptoms_broken.svg": Chart(
        panels=(
            Panel("score", "得分", "score"),
            Panel("kl", "KL（nat）", "KL (nats)"),
            Panel("entropy", "熵（nat）", "entropy (nats)"),
            Panel("response_length", "回答长度", "length of answers"),
        ),
        lines=(
            Line("healthy", "好的", "healthy"),
            Line("shifted_values", "values 晚一格", "values one late"),
            Line("flipped_sign", "符号反了", "sign flipped"),
        ),
    ),
    "debug/symptoms_hacking.svg": Chart(
        panels=(
            Panel("score", "奖励模型的分", "score of the model"),
            Panel("solved", "真对的比例", "right answers"),
            Panel("kl", "KL（nat）", "KL (nats)"),
            Panel("response_length", "回答长度", "length of answers"),
        ),
        lines=(
            Line("learned_reward", "有 KL 惩罚", "with KL penalty"),
            Line("learned_reward_without_kl", "没有 KL 惩罚", "without"),
        ),
    ),
    "critic/what_it_buys_runs.svg": Chart(
        panels=(
            Panel("score", "得分", "score"),
            Panel("entropy", "熵（nat）", "entropy (nats)"),
        ),
        lines=(
            Line("healthy", "有 critic，256 题", "critic, 256 prompts"),
            Line("reinforce_plus_plus", "REINFORCE++，256 题", "REINFORCE++, 256"),
            Line("four_responses", "有 critic，64 题", "critic, 64 prompts"),
            Line("grpo", "GRPO，64 题", "GRPO, 64 prompts"),
        ),
    ),
}
