"""The production of a run, which rests on all of ``ppo_ref`` that this imports."""

from collections import deque
from collections.abc import Iterator
from typing import Any

import torch

from ppo_ref.train.config import PPOConfig
from ppo_ref.train.estimates import estimate_named
from ppo_ref.train.networks import actor_statistics, critic_values
from ppo_ref.train.rollout import as_rollout, sample_responses
from ppo_ref.train.statistics import records
from ppo_ref.train.trainer import Trainer
from site_tools.stored_runs.table import RUNS

RECORDED_EVERY, ROWS = 20, 4  # iterations; responses of each
# The same question after every iteration, a right answer to it and the likeliest wrong.
QUESTION, ANSWERS = "1+1=", ("1+1=2", "1+1=3")


def produce(name: str) -> Iterator[dict[str, Any]]:
    """The measurements of a run of the table, one iteration after the other.

    First comes a record of the share of held-out questions answered right before PPO;
    then for each iteration its statistics, a record of the question that is watched,
    and behind some of these records of single tokens.
    """
    options = dict(RUNS[name].options)
    used = options.pop("estimate", "whitened_gae")
    config = PPOConfig(seed=RUNS[name].seed, **options)
    estimate = estimate_named(used, config.responses_per_prompt)
    trainer = Trainer(config, estimate=estimate)
    deque(trainer.imitate(), maxlen=0)
    deque(trainer.learn_reward(), maxlen=0)
    yield {"record": "before PPO", "held_out": trainer.held_out()}
    yield _watched(trainer)
    for iteration in trainer.train():
        yield iteration.statistics
        yield _watched(trainer)
        if iteration.number == 1 or iteration.number % RECORDED_EVERY == 0:
            for row in records(
                iteration.experience, iteration.questions, trainer.tokenizer, ROWS
            ):
                yield {"record": "response", **row}


@torch.no_grad()
def _watched(trainer: Trainer) -> dict[str, Any]:
    """The answers to one question by actor and critic as they are now; draws nothing.

    ``says`` is the most probable answer; log-probs and values are those of given ones,
    token by token, so that one iteration can be compared with the next.
    """
    actor, critic, *_ = trainer.models
    tokenizer, slots = trainer.tokenizer, trainer.config.response_length
    prompts = tokenizer.prompts([QUESTION] * len(ANSWERS))
    said = sample_responses(actor, prompts, response_length=slots, temperature=0)
    answers = tokenizer.responses(ANSWERS, slots)
    given = as_rollout(prompts, answers, torch.zeros(answers.shape))
    log_probs = actor_statistics(actor, given).log_probs
    values = torch.zeros_like(log_probs)
    if critic is not None:
        values = critic_values(critic, given)
    masked = list(zip(log_probs, values, given.response_mask, strict=True))
    return {
        "record": "watched",
        "question": QUESTION,
        "says": tokenizer.decode(said.responses[0].tolist()),
        "answers": list(ANSWERS),
        "log_probs": [row[mask].tolist() for row, _, mask in masked],
        "values": [row[mask].tolist() for _, row, mask in masked],
    }
