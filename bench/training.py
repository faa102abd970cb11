"""Seconds that a whole training run takes, phase by phase, by threads."""

import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import torch

from ppo_ref.config import PPOConfig
from ppo_ref.trainer import Trainer

PHASES = ("imitation", "PPO", "whole run")


def seconds(threads: int) -> dict[str, float]:
    """Train once with the defaults, in this process."""
    torch.set_num_threads(threads)
    trainer = Trainer(PPOConfig())
    marks = [time.perf_counter()]
    for phase in (trainer.imitate(), trainer.train()):
        for _ in phase:
            pass
        marks.append(time.perf_counter())
    spans = [later - earlier for earlier, later in itertools.pairwise(marks)]
    return dict(zip(PHASES, [*spans, sum(spans)], strict=True))


def measured(threads: list[int], times: int) -> Iterator[tuple[int, dict[str, float]]]:
    """Each number of threads in turn, again and again: what disturbs, disturbs all."""
    for _ in range(times):
        for count in threads:
            done = subprocess.run(
                [sys.executable, "-m", "bench.training", "--once", str(count)],
                check=True,
                capture_output=True,
                text=True,
            )
            yield count, json.loads(done.stdout)


def main() -> None:
    """Print the median of each phase and how far the runs lie apart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", type=int, help="one run with so many threads")
    parser.add_argument("--times", type=int, default=3, help="runs of each kind")
    given = parser.parse_args()
    if given.once:
        print(json.dumps(seconds(given.once)))
        return
    cores = os.cpu_count() or 1
    found: dict[int, list[dict[str, float]]] = {}
    for threads, run in measured(sorted({1, cores}), given.times):
        found.setdefault(threads, []).append(run)
        print(f"{threads} threads: {run['whole run']:.1f} s", flush=True)
    print(f"\n{platform.machine()}, {cores} cores, torch {torch.__version__}")
    for threads, runs in found.items():
        for phase in PHASES:
            spans = sorted(run[phase] for run in runs)
            median = statistics.median(spans)
            print(
                f"{threads} threads  {phase:10} {median:6.1f} s"
                f"  ({spans[0]:.1f} to {spans[-1]:.1f})"
            )


if __name__ == "__main__":
    main()
