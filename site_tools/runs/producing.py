"""How a run is produced. What this imports of ``ppo_ref`` is what a run rests on."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from ppo_ref import broken
from ppo_ref.command.records import records
from ppo_ref.config import PPOConfig
from ppo_ref.estimate import whitened_gae
from ppo_ref.trainer import Trainer
from site_tools.runs.table import RUNS

RECORDED_EVERY, ROWS = 20, 4  # iterations; responses of each


def produce(name: str) -> Iterator[dict[str, Any]]:
    """What a run of the table measures, one iteration after the other.

    Args:
        name: Of a run in the table.

    Returns:
        First a record of the share of held-out questions that were answered right
        before PPO; then for each iteration its statistics, numbers by name, and behind
        some of them records of single tokens.
    """
    options = dict(RUNS[name].options)
    wrong = options.pop("estimate", None)
    estimate = getattr(broken, wrong) if wrong else whitened_gae
    trainer = Trainer(PPOConfig(seed=RUNS[name].seed, **options), estimate=estimate)
    deque(trainer.imitate(), maxlen=0)
    deque(trainer.learn_reward(), maxlen=0)
    yield {"record": "before PPO", "held_out": trainer.held_out()}
    for iteration in trainer.train():
        yield iteration.statistics
        if iteration.number == 1 or iteration.number % RECORDED_EVERY == 0:
            for row in records(
                iteration.experience, iteration.questions, trainer.tokenizer, ROWS
            ):
                yield {"record": "response", **row}
