"""The task of a run: questions, those that are held out, and how answers are scored."""

from collections.abc import Callable
from typing import NamedTuple

import torch

from ppo_ref.require import require_at_least


class Question(NamedTuple):
    """A question in words, and its right answer."""

    text: str
    answer: str


# The share of the full score that a text deserves which has ended, from 0 to 1.
Score = Callable[[Question, str], float]


class Task(NamedTuple):
    """Questions to learn from, others that are never trained on, and what is right.

    ``score`` is what a response is paid by, ``right`` what held-out answers are judged
    by. They differ where a run is to show what becomes of a score that can be cheated.
    """

    train: list[Question]
    held_out: list[Question]
    score: Score
    right: Score


def draw(
    questions: list[Question], count: int, generator: torch.Generator
) -> list[Question]:
    """Draw questions with replacement."""
    require_at_least("draw", 1, count=count)
    if not questions:
        raise ValueError("draw: questions must be at least one, got none")
    chosen = torch.randint(len(questions), (count,), generator=generator)
    return [questions[i] for i in chosen.tolist()]
