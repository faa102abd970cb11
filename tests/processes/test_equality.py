"""Two processes do what one does on the same global batch, by DDP and by FSDP2."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.batch import Experience, Rollout
from ppo_ref.processes.group import PARALLEL
from ppo_ref.training.networks import actor_statistics, critic_values
from tests import oracles
from tests.processes import cases
from tests.processes.cases import CASES, UPDATES, trainer, updated, vector
from tests.processes.starting import ended, started

pytestmark = pytest.mark.slow
parallel = pytest.mark.parametrize("parallel", PARALLEL)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[Any, Any]]:
    """What each of two processes has computed."""
    folder: Path = tmp_path_factory.mktemp("found")
    code, _, errors = ended(started("tests.processes.worker", folder))
    assert code == 0, errors
    kept = [folder / f"{rank}.pt" for rank in (0, 1)]
    return [torch.load(path, weights_only=False) for path in kept]


@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def test_what_processes_tell_each_other(found):
    for rank in (0, 1):
        said = found[rank]["exchanges"]
        assert said["gathered"].tolist() == [[0, 7], [1, 7]]
        assert said["flags"].tolist() == [True, False]
        assert said["any"] == [True, False, True]
        assert said["first"] == ("made by", 0)
        assert said["failed"] == ("OthersEnded" if rank else "ValueError")


@parallel
@pytest.mark.parametrize("which", UPDATES)
@pytest.mark.parametrize("name", CASES)
def test_an_update_is_that_of_one_process(found, parallel, name, which):
    """Sums of float64 in another order; the gradient is the change of the weights."""
    case = CASES[name]
    alone = updated(which, case, cases.experience(case))
    for rank in (0, 1):
        weights, statistics = found[rank]["updates"][parallel, name, which]
        assert_close(weights, alone.weights, rtol=1e-10, atol=1e-12)
        assert [pytest.approx(step) for step in alone.statistics] == statistics
    if name == "stopped" and which == "actor":
        assert alone.statistics[-1]["actor_steps"] == 0
    if name == "clipped":
        assert alone.statistics[0][f"{which}_grad_norm"] > 1e-3


@pytest.mark.parametrize("which", UPDATES)
def test_a_mean_over_each_processs_own_tokens_is_found(found, which):
    """The mistake that DDP invites: 4 tokens here, 20 there, and each half's mean."""
    case = CASES["halves"]
    alone = updated(which, case, cases.experience(case)).weights
    start = vector(UPDATES[which][1]())
    for rank in (0, 1):
        off = (found[rank]["mistaken"][which] - alone).norm()
        assert off > 0.1 * (alone - start).norm()


@parallel
def test_both_processes_end_a_run_with_the_same_bits(found, parallel):
    one, other = (found[rank][parallel] for rank in (0, 1))
    assert torch.equal(one["actor"], other["actor"])
    assert torch.equal(one["critic"], other["critic"])
    for ours, theirs in zip(one["iterations"], other["iterations"], strict=True):
        for x, y in zip([*ours[0], *ours[1]], [*theirs[0], *theirs[1]], strict=True):
            assert torch.equal(x, y)
        assert ours[2] == theirs[2]


@parallel
def test_a_run_is_that_of_one_process_on_the_same_experiences(
    found, parallel, monkeypatch, double
):
    """Float64; Adam divides by roots of what it has seen, so rounding grows."""
    shared = found[0][parallel]
    given = iter(experiences(shared))
    alone = trainer()
    monkeypatch.setattr(
        "ppo_ref.training.trainer.collect_experience", lambda *_: next(given)
    )
    statistics = [iteration.statistics for iteration in alone.train()]
    assert len(statistics) == 3
    for ours, theirs in zip(statistics, shared["iterations"], strict=True):
        assert ours == pytest.approx(theirs[2], rel=1e-6, abs=1e-9)
    for name in ("actor", "critic"):
        weights = vector(getattr(alone.models, name))
        assert_close(weights, shared[name], rtol=1e-7, atol=1e-9)


def test_the_first_batch_is_judged_as_one(found, double):
    """What each network says of every row, and whitening over the rows of both."""
    (experience, *_) = experiences(found[0]["ddp"])
    rollout, mask = experience.rollout, experience.rollout.response_mask
    models = trainer().models
    with torch.no_grad():
        assert_close(
            actor_statistics(models.actor, rollout)[0], experience.old_log_probs
        )
        assert_close(critic_values(models.critic, rollout), experience.values)
    halves = [experience.advantages[rows][mask[rows]] for rows in ROWS]
    everything = torch.cat(halves).tolist()
    assert oracles.mean(everything) == pytest.approx(0, abs=1e-12)
    assert abs(oracles.mean(halves[0].tolist())) > 1e-6
    assert not torch.equal(*(rollout.responses[rows] for rows in ROWS))


@parallel
def test_the_state_is_that_of_one_process(found, parallel, double):
    """Whole tensors by the same names: any number of processes can go on with it."""
    state = found[0][parallel]["state"]
    alone = trainer()
    alone.load_state_dict(state)
    assert_same_state(alone.state_dict(), state)
    assert torch.equal(vector(alone.models.actor), found[0][parallel]["actor"])
    remembered = state["actor_optimizer"]["state"]
    assert len(remembered) == len(list(alone.models.actor.parameters()))
    for place, weight in enumerate(alone.models.actor.parameters()):
        assert type(remembered[place]["exp_avg"]) is torch.Tensor
        assert remembered[place]["exp_avg"].shape == weight.shape


def assert_same_state(ours: Any, theirs: Any) -> None:
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert_same_state(ours[name], theirs[name])
    elif isinstance(ours, torch.Tensor):
        assert torch.equal(ours, theirs)
    else:
        assert ours == theirs


ROWS = slice(0, 4), slice(4, 8)


def experiences(run: dict[str, Any]) -> list[Experience]:
    return [
        Experience(Rollout(*rollout), *tensors)
        for rollout, tensors, _ in run["iterations"]
    ]
