"""A run small enough for an example: whole iterations in hundredths of a second."""

from typing import Any

from ppo_ref.config import PPOConfig
from ppo_ref.trainer import Trainer


def tiny_trainer(**options: Any) -> Trainer:
    """A trainer of one layer, 4 prompts and 3 iterations; it runs, and learns little.

    Args:
        options: Settings of ``PPOConfig`` that are to differ.

    Returns:
        The trainer before its imitation, which may be left out.

    Example:
        >>> run = [iteration.number for iteration in tiny_trainer(iterations=2).train()]
        >>> run
        [1, 2]
    """
    small = {
        "width": 8,
        "layers": 1,
        "heads": 2,
        "wrong_score": -1.0,  # no answer is right, and each is to be something else
        "warm_start_steps": 2,
        "warm_start_batch_size": 4,
        "iterations": 3,
        "batch_size": 4,
        "mini_batch_size": 2,
        "micro_batch_size": 1,
    }
    return Trainer(PPOConfig(**{**small, **options}))
