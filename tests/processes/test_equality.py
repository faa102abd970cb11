"""Two processes do what one does on the same global batch, by DDP and by FSDP2."""

import importlib
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from ppo_ref.batch import Experience, Rollout
from ppo_ref.processes import ALONE, PARALLEL, Processes, gathered
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.trainer import Learners, Trainer, tiny_trainer
from ppo_ref.train.update import mini_batches, update_actor, update_critic
from tests import networks
from tests.command.runs import assert_equal

pytestmark = pytest.mark.slow
parallel = pytest.mark.parametrize("parallel", PARALLEL)
UPDATES = {
    "actor": (update_actor, networks.actor),
    "critic": (update_critic, networks.critic),
}


class Case(NamedTuple):
    """Lengths of the responses, and settings that differ."""

    lengths: tuple[int, ...]
    options: dict[str, float]


# Tokens of eight responses: many of one, few of the other; a half of single tokens.
RAGGED = (1, 9, 2, 4, 1, 5, 3, 1)
HALVES = (1, 1, 1, 1, 5, 5, 5, 5)
CASES = {
    "halves": Case(HALVES, {"mini_batch_size": 8}),
    "uneven micro-batches": Case(
        (*RAGGED, 2, 7, 1, 1), {"mini_batch_size": 12, "micro_batch_size": 4}
    ),
    "all terms, clipped": Case(
        RAGGED, {"kl_loss_coef": 0.3, "entropy_coef": 0.2, "max_grad_norm": 1e-3}
    ),
    "stopped": Case(RAGGED, {"actor_epochs": 3, "max_kl": 0.2}),
}
SMALL = {
    "batch_size": 8,
    "mini_batch_size": 4,
    "actor_epochs": 2,
    "reward_model_steps": 1,
    "evaluate_every": 2,
}


class Updated(NamedTuple):
    """All weights after an update, in one row, and its statistics."""

    weights: Tensor
    statistics: list[dict[str, float]]


def experience(case: Case) -> Experience:
    return networks.experience(networks.actor(), *case.lengths)


def updated(
    which: str, case: Case, given: Experience, processes: Processes = ALONE
) -> Updated:
    """By SGD, so that the change of the weights is the gradient."""
    update, network = UPDATES[which][0], UPDATES[which][1]()
    processes.shard(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    sizes = {"batch_size": len(case.lengths), "mini_batch_size": 4}
    config = PPOConfig(**{**sizes, "micro_batch_size": 2, **case.options})
    epochs = getattr(config, f"{which}_epochs")
    minis = mini_batches(given, epochs, config.mini_batch_size, networks.seeded(0))
    statistics = list(update(network, optimizer, minis, config, processes))
    return Updated(vector(network), statistics)


def vector(network: nn.Module) -> Tensor:
    whole = gathered(dict(network.named_parameters()))
    return torch.cat([weight.detach().flatten() for weight in whole.values()])


def all_updates(one: Processes) -> dict[Any, tuple]:
    return {
        (name, which): tuple(updated(which, case, experience(case), one))
        for name, case in CASES.items()
        for which in UPDATES
    }


def trainer(processes: Processes = ALONE) -> Trainer:
    """Small, in double precision, and after its imitation."""
    torch.set_default_dtype(torch.float64)
    made = Trainer(tiny_trainer(**SMALL).config, processes=processes)
    list(made.imitate())
    list(made.learn_reward())
    return made


def whole_run(one: Processes) -> dict[str, Any]:
    made = trainer(one)
    iterations = {}
    for step in made.train():
        given = step.experience._asdict() | {
            "rollout": step.experience.rollout._asdict()
        }
        iterations[step.number] = {"given": given, "statistics": step.statistics}
    weights = {name: vector(getattr(made.models, name)) for name in UPDATES}
    return {"iterations": iterations, "state": made.state_dict(), "weights": weights}


@pytest.fixture(scope="module", autouse=True)
def compiler():
    """Seconds, else at the first optimizer of each fork."""
    importlib.import_module("torch._dynamo")


@pytest.fixture(scope="module")
def updates(both) -> dict[str, list[Any]]:
    """What each of two processes has computed, by the way they share weights."""
    return {name: both(all_updates, name) for name in PARALLEL}


@pytest.fixture(scope="module")
def runs(both) -> dict[str, list[Any]]:
    return {name: both(whole_run, name) for name in PARALLEL}


@pytest.fixture
def double():
    yield torch.set_default_dtype(torch.float64)
    torch.set_default_dtype(torch.float32)


@parallel
@pytest.mark.parametrize("which", UPDATES)
@pytest.mark.parametrize("name", CASES)
def test_an_update_is_that_of_one_process(updates, parallel, name, which):
    """Sums of float64 in another order."""
    alone = updated(which, CASES[name], experience(CASES[name]))
    for process in updates[parallel]:
        weights, statistics = process[name, which]
        assert_close(weights, alone.weights, rtol=1e-10, atol=1e-12)
        assert [pytest.approx(step) for step in alone.statistics] == statistics
    if name == "stopped" and which == "actor":
        assert alone.statistics[-1]["actor_steps"] == 0
    if "clipped" in name:
        assert alone.statistics[0][f"{which}_grad_norm"] > 1e-3


@parallel
def test_both_processes_end_a_run_with_the_same_bits(runs, parallel):
    one, other = ({**run, "state": None} for run in runs[parallel])
    assert_equal(one, other, "run")


@parallel
def test_a_run_is_that_of_one_process_on_the_same_experiences(
    runs, parallel, monkeypatch, double
):
    """Float64; Adam divides by roots of what it has seen, so rounding grows."""
    run = runs[parallel][0]
    given = iter(experiences(run))
    alone = trainer()
    monkeypatch.setattr(
        "ppo_ref.train.trainer.collect_experience", lambda *_: next(given)
    )
    statistics = [iteration.statistics for iteration in alone.train()]
    assert len(statistics) == 3
    for ours, theirs in zip(statistics, run["iterations"].values(), strict=True):
        assert ours == pytest.approx(theirs["statistics"], rel=1e-6, abs=1e-9)
    for name, weights in run["weights"].items():
        ours = vector(getattr(alone.models, name))
        assert_close(ours, weights, rtol=1e-7, atol=1e-9)


@parallel
def test_the_state_is_that_of_one_process(runs, parallel, double):
    """Whole tensors by the same names: any number of processes can go on with it."""
    state = runs[parallel][0]["state"]
    alone = trainer()
    alone.load_state_dict(state)
    assert_equal(alone.state_dict(), state, "state")
    actor = alone.models.actor
    assert torch.equal(vector(actor), runs[parallel][0]["weights"]["actor"])
    moments = state["actor_optimizer"]["state"].values()
    for memory, weight in zip(moments, actor.parameters(), strict=True):
        assert type(memory["exp_avg"]) is torch.Tensor
        assert memory["exp_avg"].shape == weight.shape


def experiences(run: dict[str, Any]) -> list[Experience]:
    given = [step["given"] for step in run["iterations"].values()]
    return [Experience(**x | {"rollout": Rollout(**x["rollout"])}) for x in given]


def learners(seed: int) -> Learners:
    """After a step of every optimizer, so that there is something to remember."""
    learning = Learners(networks.actor(seed), actor_lr=0.5, critic_lr=0.25)
    for name in ("imitation", "reward", "actor", "critic"):
        optimizer = getattr(learning, f"{name}_optimizer")
        for group in optimizer.param_groups:
            for weight in group["params"]:
                weight.grad = torch.ones_like(weight)
        optimizer.step()
    return learning


@parallel
def test_all_learn_on_from_the_weights_of_the_first(both, parallel):
    def shared(one: Processes) -> tuple:
        learning = learners(seed=one.rank)
        before = learning.state_dict()
        learning.share(one)
        kinds = [type(next(x.parameters())).__name__ for x in learning.models]
        return before, learning.state_dict(), kinds

    (before, after, kinds), (other, same, _) = both(shared, parallel)
    weight = next(iter(before["actor"]))
    assert not torch.equal(before["actor"][weight], other["actor"][weight])
    assert_equal(after, before, "first")
    assert_equal(after, same, "second")
    learn = "DTensor" if parallel == "fsdp2" else "Parameter"
    assert kinds == [learn, learn, "Parameter", "Parameter"]
