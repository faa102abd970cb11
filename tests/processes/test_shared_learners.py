"""Learners whose weights two processes share: those of the first, on both."""

import pytest
import torch

from ppo_ref.processes.group import Processes
from ppo_ref.processes.sharding import whole
from ppo_ref.training.learners import Learners
from ppo_ref.training.networks import Actor
from tests.networks import actor


def learners(seed: int) -> Learners:
    """After a step of every optimizer, so that there is something to remember."""
    learning = Learners(actor(seed), actor_lr=0.5, critic_lr=0.25)
    for name in ("imitation", "reward", "actor", "critic"):
        optimizer = getattr(learning, f"{name}_optimizer")
        for group in optimizer.param_groups:
            for weight in group["params"]:
                weight.grad = torch.ones_like(weight)
        optimizer.step()
    return learning


def kind(network: Actor) -> str:
    return type(next(network.parameters())).__name__


def flat(state: dict) -> list[float]:
    return [
        x
        for name in ("actor", "critic", "reference", "reward")
        for weight in state[name].values()
        for x in weight.flatten().tolist()
    ]


@pytest.mark.parametrize("parallel", ["ddp", "fsdp2"])
def test_all_learn_on_from_the_weights_of_the_first(both, parallel):
    def shared(one: Processes) -> tuple:
        learning = learners(seed=one.rank)
        before = learning.state_dict()
        learning.share(one)
        after = learning.state_dict()
        moments = [
            memory["exp_avg"].flatten().tolist()
            for memory in after["critic_optimizer"]["state"].values()
        ]
        kinds = [kind(network) for network in learning.models]
        rates = [
            optimizer.param_groups[0]["lr"]
            for optimizer in (learning.actor_optimizer, learning.critic_optimizer)
        ]
        return flat(before), flat(after), moments, kinds, rates

    (mine, got, kept, kinds, rates), (other, same, theirs, _, _) = both(
        shared, parallel
    )
    assert mine != other
    assert got == same == mine
    assert kept == theirs and kept
    learn = "DTensor" if parallel == "fsdp2" else "Parameter"
    assert kinds == [learn, learn, "Parameter", "Parameter"]
    assert rates == [0.5, 0.25]


def test_it_is_done_once_never_alone_and_optimizers_move_what_is_shared(both):
    def again(one: Processes) -> bool:
        learning = learners(seed=0)
        alone = learning.actor_optimizer
        learning.share(Processes())
        assert learning.actor_optimizer is alone
        learning.share(one)
        optimizer = learning.actor_optimizer
        learning.share(one)
        assert alone is not learning.actor_optimizer is optimizer
        moved = optimizer.param_groups[0]["params"]
        return [*map(id, moved)] == [*map(id, learning.models.actor.parameters())]

    assert both(again, "fsdp2") == [True, True]


@pytest.mark.filterwarnings("ignore:Full backward hook:UserWarning")  # of counting
def test_a_network_that_was_whole_gathers_no_more_than_before(both):
    # Two seconds, which every process that collects the tests would pay for.
    from torch.distributed.tensor.debug import CommDebugMode

    def counts(one: Processes) -> list[dict]:
        network, ids = actor(seed=0), torch.tensor([[1, 2, 3]])
        mask = torch.ones_like(ids, dtype=torch.bool)
        one.shard(network)
        found = []
        for _ in range(2):
            with CommDebugMode() as told:
                network(ids, mask).sum().backward()
            found.append({str(k): n for k, n in told.get_comm_counts().items()})
            with whole(network):
                network(ids, mask)
        return found

    for before, after in both(counts, "fsdp2"):
        assert before == after and sum(before.values()) > 0
