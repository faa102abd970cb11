"""The production of a run of a real model, with the recipe of the command's preset.

It takes a quarter of an hour, so such a run is not stale when code changes: the slow
tests make its first iteration anew, and it must come out as it is stored.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from ppo_ref.command.preparing import make_trainer
from ppo_ref.command.settings import make_settings
from ppo_ref.train.scores import NUMBER
from ppo_ref.train.statistics import records
from ppo_ref.train.tasks import Question, Score
from ppo_ref.train.tokenizer import Tokenizer
from ppo_ref.train.trainer import Iteration, Trainer
from site_tools.stored_runs.table import RUNS, Recipe

FIRST_RECORDED, RECORD_EVERY = (1, 2, 3, 5), 10  # iterations
RECORD_ROWS = 8  # responses of each


def any_number(question: Question, response: str) -> float:
    """The response begins with a number, whichever: what does form alone bring?"""
    return float(NUMBER.match(response.strip()) is not None)


def contained(question: Question, response: str) -> float:
    """The right number stands somewhere: a careless verifier, which can be cheated."""
    return float(question.answer in NUMBER.findall(response))


# Options that the command has not: a score of this module, when to stop.
OPTIONS_HERE = "score", "stop_after"
SCORES: dict[str, Score] = {"any-number": any_number, "contained": contained}


def trainer_of(run: Recipe) -> Trainer:
    """The trainer of a run of the table, at its beginning."""
    options = {x: run.options[x] for x in run.options if x not in OPTIONS_HERE}
    given = {"preset": run.preset, "seed": run.seed, "device": "cpu", **options}
    trainer = make_trainer(make_settings(given))
    name = run.options.get("score")
    if name:
        trainer.task = trainer.task._replace(score=SCORES[name])
    return trainer


def produce_real(name: str) -> Iterator[dict[str, Any]]:
    """The measurements of a run of the table, one iteration after the other.

    First comes a record of the held-out questions before PPO and what is answered; then
    for each iteration its statistics, behind some of them records of single tokens, and
    of the held-out questions whenever they were asked.
    """
    run = RUNS[name]
    trainer = trainer_of(run)
    share = trainer.held_out()
    yield {"record": "before PPO", "held_out": share, **_looked(trainer)}
    for iteration in islice(trainer.train(), run.options.get("stop_after")):
        yield iteration.statistics
        number = iteration.number
        if number in FIRST_RECORDED or number % RECORD_EVERY == 0:
            yield from _responses(trainer, iteration)
        if "held_out" in iteration.statistics:
            yield {"record": "held out", **_looked(trainer)}


def _responses(trainer: Trainer, iteration: Iteration) -> Iterator[dict[str, Any]]:
    experience = iteration.experience
    now = trainer.log_probs_now(experience.rollout, RECORD_ROWS)
    told = records(experience, iteration.questions, trainer.tokenizer, RECORD_ROWS)
    for row, log_probs in zip(told, now, strict=True):
        again = encoded_again(trainer.tokenizer, row["response"])
        yield {
            "record": "response",
            **row,
            "new_log_probs": log_probs,
            "encoded_again": again,
        }


def encoded_again(tokenizer: Tokenizer, tokens: list[str]) -> list[str]:
    """The tokens of the text that these tokens are; often the same."""
    return [tokenizer.shown(token) for token in tokenizer.encode("".join(tokens))]


def _looked(trainer: Trainer) -> dict[str, Any]:
    """The greedy answers of the last look, in the order of their questions."""
    return {
        "questions": [answer.question.text for answer in trainer.looked],
        "answers": [answer.text for answer in trainer.looked],
    }
