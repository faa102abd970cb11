"""From settings to a trainer: the task, the tokenizer, the model, in this order.

What takes a moment to read comes first, so that a slip in it is told before a model is
loaded.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ppo_ref.command.settings import PHRASED, Settings
from ppo_ref.train import sums
from ppo_ref.train.estimates import estimate_named
from ppo_ref.train.pretrained import pretrained_actor, pretrained_tokenizer
from ppo_ref.train.questions import read_questions, split_questions
from ppo_ref.train.scores import score_named
from ppo_ref.train.tasks import Task
from ppo_ref.train.trainer import MakeTask, Trainer


def make_trainer(settings: Settings) -> Trainer:
    """The trainer of a run, at its beginning."""
    make_task = task_of(settings)
    model: dict[str, Any] = {}
    if settings.model:
        model["tokenizer"] = pretrained_tokenizer(
            settings.model,
            template=settings.prompt_template,
            chat=not settings.no_chat_template,
            stop=settings.stop,
        )
        precision = getattr(torch, settings.precision)
        model["actor"] = pretrained_actor(settings.model, precision)
    estimate = estimate_named(settings.estimate, settings.responses_per_prompt)
    return Trainer(settings, settings.device, estimate, make_task=make_task, **model)


def task_of(settings: Settings) -> MakeTask:
    """The maker of the run's task, which needs nothing more than a generator.

    All files are read now, and a score from a file is run.
    """
    usual = "stated-sum" if settings.questions == PHRASED else "first-number"
    score = right = score_named(settings.score or usual)
    if settings.held_out_score:
        right = score_named(settings.held_out_score)
    limit = settings.held_out_limit or None
    if settings.questions in sums.READY:
        ready = sums.READY[settings.questions]

        def of_ready(generator: torch.Generator) -> Task:
            train, held_out, *_ = ready(generator)
            return Task(train, held_out[:limit], score, right)

        return of_ready
    lines = read_questions(Path(settings.questions))

    def of_file(generator: torch.Generator) -> Task:
        train, held_out = split_questions(lines, settings.held_out, generator)
        return Task(train, held_out[:limit], score, right)

    of_file(torch.Generator())  # what cannot be split is refused now
    return of_file


def weights_memory(trainer: Trainer) -> int:
    """Bytes of all networks, with the gradients and averages of those that learn."""
    networks = [network for network in trainer.models if network is not None]
    weights = sum(_bytes(network) for network in networks)
    learning = [_bytes(n) for n in networks[:2] if any(_learns(n))]
    # Adam keeps two numbers a weight; gradients are there for one network at a time.
    return weights + 2 * sum(learning) + max(learning)


def _learns(network: torch.nn.Module) -> Iterator[bool]:
    return (weight.requires_grad for weight in network.parameters())


def _bytes(network: torch.nn.Module) -> int:
    return sum(weight.nbytes for weight in network.parameters())
