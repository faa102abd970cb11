"""Seconds that a whole training run takes, phase by phase, by threads an operation.

Each run is a process of its own; ``python -m bench.training THREADS`` is one.
"""

import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from unittest.mock import patch

import torch

from bench.measuring import Comparison
from bench.phases import Phases
from ppo_ref.train import experience
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.trainer import Trainer

PHASES = ("imitation", "PPO", "rollout", "update")  # the last two within PPO
SHORT = {"warm_start_steps": 2, "iterations": 1, "evaluate_every": 1}


def comparisons(quick: bool, device: str) -> Iterator[Comparison]:
    """The whole run by threads, then the phases of the runs that were made for it."""
    if device != "cpu":
        return
    threads = (1,) if quick else sorted({1, os.cpu_count() or 1})
    rounds = 1 if quick else 2
    runs: dict[int, list[dict[str, float]]] = {count: [] for count in threads}

    def whole(count: int) -> float:
        runs[count].append(one(count, quick))
        return sum(runs[count][-1][phase] for phase in PHASES[:2])

    def replayed(phase: str) -> dict[str, Callable[[], float]]:
        return {
            _named(count): iter([run[phase] for run in runs[count]]).__next__
            for count in threads
        }

    prepared = {
        "whole run": lambda: {_named(count): partial(whole, count) for count in threads}
    } | {phase: partial(replayed, phase) for phase in PHASES}
    for setting, prepare in prepared.items():
        yield Comparison(
            "training",
            setting,
            prepare,
            measure=lambda contender: contender(),
            seconds=0,
            rounds=rounds,
            warm_up=0,
        )


def _named(threads: int) -> str:
    return f"{threads} thread{'s' * (threads > 1)}"


def one(threads: int, quick: bool) -> dict[str, float]:
    """Seconds of each phase of one run, in a process of its own."""
    command = [sys.executable, "-m", "bench.training", str(threads)]
    done = subprocess.run(
        [*command, *["quick"] * quick], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def seconds(threads: int, config: PPOConfig) -> dict[str, float]:
    """Train once in this process."""
    torch.set_num_threads(threads)
    trainer, phases = Trainer(config), Phases(PHASES, time.perf_counter)
    trainer._update = phases.timed("update", trainer._update)
    sampling = phases.timed("rollout", experience.sample_responses)
    with patch.object(experience, "sample_responses", sampling):
        phases.timed("imitation", deque)(trainer.imitate(), maxlen=0)
        phases.timed("PPO", deque)(trainer.train(), maxlen=0)
    return phases.seconds


if __name__ == "__main__":
    threads, *quick = sys.argv[1:]
    settings = SHORT if quick else {}
    print(json.dumps(seconds(int(threads), PPOConfig(**settings))))
