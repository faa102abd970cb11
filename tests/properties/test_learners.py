"""What learns and what remembers: its rates, and states to go on from."""

import re

import pytest
import torch

from ppo_ref.training.learners import Learners, learning_rate_share
from tests.networks import actor

NAMES = {
    *("actor", "critic", "reference", "reward"),
    *(f"{name}_optimizer" for name in ("imitation", "reward", "actor", "critic")),
}


def learners(seed: int = 0) -> Learners:
    return Learners(actor(seed), actor_lr=0.5, critic_lr=0.25)


def learn(learning: Learners) -> None:
    """One step of every optimizer, so that each has something to remember."""
    for name in ("imitation", "reward", "actor", "critic"):
        optimizer = getattr(learning, f"{name}_optimizer")
        for group in optimizer.param_groups:
            for weight in group["params"]:
                weight.grad = torch.ones_like(weight)
        optimizer.step()


def flat(state: object) -> list[torch.Tensor]:
    """The tensors of a state, in their order."""
    if isinstance(state, torch.Tensor):
        return [state]
    if isinstance(state, dict):
        state = list(state.values())
    return [x for part in state for x in flat(part)] if isinstance(state, list) else []


def same(one: object, other: object) -> bool:
    return len(flat(one)) == len(flat(other)) and all(
        map(torch.equal, flat(one), flat(other))
    )


def rates(learning: Learners) -> dict[str, float]:
    return {
        name: getattr(learning, f"{name}_optimizer").param_groups[0]["lr"]
        for name in ("imitation", "reward", "actor", "critic")
    }


def test_each_optimizer_moves_its_own_network():
    learning = learners()
    models = learning.models
    trained = {
        "imitation": models.actor,
        "actor": models.actor,
        "critic": models.critic,
        "reward": models.reward,
    }
    for name, network in trained.items():
        (group,) = getattr(learning, f"{name}_optimizer").param_groups
        moved = [*map(id, group["params"])]
        assert moved == [*map(id, network.parameters())], name


@pytest.mark.parametrize("shares", [[0.5], [0.5, 1.0], [0.0], [0.125, 0.25]])
def test_a_share_is_one_of_the_peak_whatever_was_before(shares):
    learning = learners()
    for share in shares:
        learning.set_learning_rates(share)
    last = shares[-1]
    found = rates(learning)
    assert found["actor"] == 0.5 * last and found["critic"] == 0.25 * last
    assert found["imitation"] == 1e-3 and found["reward"] == 2e-3


def test_a_state_holds_all_that_a_run_needs_and_stays_as_it_is():
    learning = learners()
    learn(learning)
    state, before = learning.state_dict(), learning.state_dict()
    assert state.keys() == NAMES
    assert all(flat(part) for part in state.values())
    learn(learning)
    assert same(state, before) and not same(state, learning.state_dict())


def test_who_loads_a_state_stands_where_the_other_stood_and_leaves_it_alone():
    one, other = learners(), learners(seed=5)
    learn(one)
    state, before = one.state_dict(), one.state_dict()
    other.load_state_dict(state)
    assert same(other.state_dict(), before)
    learn(one)
    learn(other)
    assert same(other.state_dict(), one.state_dict())
    assert same(state, before)


SHARES = {
    (8, 5): [1 / 5, 2 / 5, 3 / 5, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8],
    (3, 1): [1, 2 / 3, 1 / 3],
    (4, 100): [1 / 100, 2 / 100, 3 / 100, 4 / 100],
    (1, 1): [1],
}


@pytest.mark.parametrize(("steps", "warm_up"), SHARES)
def test_it_rises_by_equal_parts_then_falls_to_nothing(steps, warm_up):
    found = [learning_rate_share(step, steps, warm_up) for step in range(steps)]
    assert found == pytest.approx(SHARES[steps, warm_up], rel=1e-12)


@pytest.mark.parametrize("step", [3, -1])
def test_a_step_beyond_the_run_is_refused(step):
    text = f"learning_rate_share: step must lie in [0, 3), got {step}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        learning_rate_share(step, 3, warm_up=1)
