"""PPO learns the sums; broken on purpose, it does worse by a margin."""

from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from statistics import fmean
from typing import Any, NamedTuple

import pytest
import torch

from ppo_ref.stored_runs import stored_run
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.estimates import BROKEN, estimate_named
from ppo_ref.training.trainer import Trainer
from site_tools.runs.table import RUNS

AT_MOST_BEFORE, AT_LEAST_AFTER = 0.5, 0.95
# A broken run, the sound one beside it, and how much less of all that it samples is
# right: at least this share.
MARGINS = {
    "flipped_sign": ("healthy", 0.6),
    "shifted_values": ("healthy", 0.015),
    "whitened_over_padding": ("penalty", 0.03),
    "learned_reward_without_kl": ("learned_reward", 0.2),
}
SEEDS, OTHER_SEED = range(5), 1


class Learned(NamedTuple):
    """Shares of right answers: to held-out questions, and in all batches."""

    before: float
    after: float
    solved: float


def learn(seed: int, **options: Any) -> Learned:
    """A whole run, in a process of its own or not."""
    wrong = options.pop("estimate", None)
    estimate = estimate_named(wrong or "whitened_gae")
    trainer = Trainer(PPOConfig(seed=seed, **options), estimate=estimate)
    list(trainer.imitate())
    list(trainer.learn_reward())
    before = trainer.held_out()
    solved = [iteration.statistics["solved"] for iteration in trainer.train()]
    return Learned(before, trainer.held_out(), fmean(solved))


def assert_learned(run: Learned) -> None:
    assert run.before <= AT_MOST_BEFORE
    assert run.after >= AT_LEAST_AFTER


@pytest.mark.parametrize("name", MARGINS)
def test_a_stored_broken_run_is_worse(name):
    sound, margin = MARGINS[name]
    wrong, right = (fmean(stored_run(run).column("solved")) for run in (name, sound))
    assert wrong <= right - margin


def test_every_broken_run_of_the_table_has_its_margin():
    estimates = {name: run.options.get("estimate", "") for name, run in RUNS.items()}
    unlike = {name for name, used in estimates.items() if used in BROKEN}
    assert unlike == set(MARGINS) - {"learned_reward_without_kl"}


@pytest.fixture(scope="module")
def runs() -> dict[tuple[str, int], Future[Learned]]:
    """Every run that the slow tests ask for, two at a time, each with one thread."""
    wanted = [("healthy", seed) for seed in SEEDS]
    pairs = {*MARGINS, *(sound for sound, _ in MARGINS.values())} - {"healthy"}
    wanted += [(name, OTHER_SEED) for name in sorted(pairs)]
    pool = ProcessPoolExecutor(
        2, get_context("forkserver"), torch.set_num_threads, (1,)
    )
    with pool:
        yield {
            (name, seed): pool.submit(learn, seed, **RUNS[name].options)
            for name, seed in wanted
        }


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_learns(runs, seed):
    assert_learned(runs["healthy", seed].result())


@pytest.mark.slow
@pytest.mark.parametrize("name", MARGINS)
def test_a_broken_run_is_worse_from_another_seed_too(runs, name):
    sound, margin = MARGINS[name]
    found = {run: runs[run, OTHER_SEED].result() for run in (name, sound)}
    assert found[name].solved <= found[sound].solved - margin
