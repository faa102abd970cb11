"""From settings to a trainer: the task, the tokenizer, the model, in this order.

What takes a moment to read comes first, so that a slip in it is told before a model is
loaded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ppo_ref.command.settings import PHRASED, Settings
from ppo_ref.command.terminal import reason_of
from ppo_ref.command.waiting import told_if_slow
from ppo_ref.train import scores, sums
from ppo_ref.train.estimates import estimate_named
from ppo_ref.train.pretrained import (
    pretrained_actor,
    pretrained_context,
    pretrained_tokenizer,
)
from ppo_ref.train.questions import Line, is_share, read_questions, split_questions
from ppo_ref.train.tasks import Question, Score, Task
from ppo_ref.train.tokenizer import Tokenizer
from ppo_ref.train.trainer import MakeTask, Trainer

LONGEST = 40  # characters of an answer in a refusal


class Asked(NamedTuple):
    """The questions of a run: the maker of its task, all prompts by their places."""

    make_task: MakeTask
    prompts: dict[str, str]


def make_trainer(settings: Settings) -> Trainer:
    """The trainer of a run, at its beginning."""
    _require_model(settings.model)
    asked = asked_by(settings)
    context, length = None, settings.response_length
    model: dict[str, Any] = {}
    if settings.model:
        tokenizer = pretrained_tokenizer(
            settings.model,
            template=settings.prompt_template,
            chat=not settings.no_chat_template,
            stop=settings.stop,
        )
        context = pretrained_context(settings.model)
        if context:
            _require_fit(asked.prompts, tokenizer, context, length)
        precision = getattr(torch, settings.precision)
        actor = pretrained_actor(settings.model, precision)
        model = {"tokenizer": tokenizer, "actor": actor}
    estimate = estimate_named(settings.estimate, settings.responses_per_prompt)
    trainer = Trainer(
        settings, settings.device, estimate, make_task=asked.make_task, **model
    )
    if not context:
        context = trainer.models.actor.transformer.context
        _require_fit(asked.prompts, trainer.tokenizer, context, length)
    return trainer


def asked_by(settings: Settings) -> Asked:
    """The questions of a run; their task needs nothing more than a generator.

    All files are read now, and a score from a file is run.
    """
    usual = "stated-sum" if settings.questions == PHRASED else "first-number"
    score = right = _score(settings.score or usual)
    if settings.held_out_score:
        right = _score(settings.held_out_score)
    if settings.questions in sums.READY:
        asked = _of_ready(settings, score, right)
    else:
        asked = _of_files(settings, score, right)
    own = {"--ask": settings.ask} if settings.ask else {}
    return asked._replace(prompts=own | asked.prompts)


def _of_ready(settings: Settings, score: Score, right: Score) -> Asked:
    ready = sums.READY[settings.questions]

    def make_task(generator: torch.Generator) -> Task:
        train, held_out, *_ = ready(generator)
        return Task(train, _asked_of(held_out, settings), score, right)

    task = ready(torch.Generator())
    texts = [question.text for question in (*task.train, *task.held_out)]
    return Asked(make_task, {f"the question {text!r}": text for text in texts})


def _of_files(settings: Settings, score: Score, right: Score) -> Asked:
    lines = read_questions(Path(settings.questions))
    others: list[Line] = []
    share = settings.held_out
    if share and not is_share(share):
        others = read_questions(Path(share))
    if "pattern" in (settings.score, settings.held_out_score):
        _require_patterns([*lines, *others])

    def make_task(generator: torch.Generator) -> Task:
        train, held_out = split_questions(lines, others or share, generator)
        return Task(train, _asked_of(held_out, settings), score, right)

    make_task(torch.Generator())  # what cannot be split is refused now
    prompts = {line.place: line.question.text for line in (*lines, *others)}
    return Asked(make_task, prompts)


def _asked_of(held_out: list[Question], settings: Settings) -> list[Question]:
    """The held-out questions that are asked at each look."""
    return held_out[: settings.held_out_limit or None]


def _score(name: str) -> Score:
    """The score of that name; that of a file may take long, which is then said."""
    score = scores.score_named(name)
    return told_if_slow(name, score) if scores.is_file(name) else score


def _require_model(path: str) -> None:
    if path and not Path(path).is_dir():
        raise ValueError(
            f"--model must be a folder, got {path!r}; download the model first, since "
            "nothing is fetched here"
        )


def _require_patterns(lines: Sequence[Line]) -> None:
    """Refuse an answer that the score ``pattern`` could not compare with."""
    for line in lines:
        answer = line.question.answer
        try:
            re.compile(answer)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(
                f"{line.place}: answer must be a regular expression for the score "
                f"pattern, got {answer[:LONGEST]!r}: {error}"
            ) from None


def _require_fit(
    prompts: Mapping[str, str],
    tokenizer: Tokenizer,
    context: int,
    response_length: int,
) -> None:
    """Refuse a prompt that the tokenizer does not know, or that is too long."""
    for place, text in prompts.items():
        try:
            length = len(tokenizer.encode_prompt(text))
        except ValueError as error:
            raise ValueError(f"{place}: {reason_of(error)}") from None
        if length + response_length > context:
            raise ValueError(
                f"{place}: prompt and response must fit the model's context of "
                f"{context} tokens, got {length} + {response_length}"
            )


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
