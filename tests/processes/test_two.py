"""What two processes tell each other: forks of this one, which answer through pipes.

Whole runs, on processes that torchrun starts, are in test_equality and test_command.
"""

import pytest
import torch

from ppo_ref.processes.group import OthersEnded, Processes
from ppo_ref.processes.sharding import whole
from ppo_ref.training.learners import Learners
from tests.command.runs import assert_equal
from tests.networks import actor


def test_rows_are_gathered_in_order_whatever_their_type(both):
    whole = torch.tensor([[1, 0, 3], [0, 5, 6], [7, 8, 0], [0, 0, 9]])

    def gathered(one: Processes) -> list[list]:
        shares = whole.double() / -7
        kinds = shares, 1000 * whole, whole > 0, shares.T.contiguous().T.float()
        found = [(x, one.gather(x[one.rows(4)])) for x in kinds]
        assert all(torch.equal(x, y) and x.dtype == y.dtype for x, y in found)
        return [y for _, y in found]

    assert_equal(*(dict(enumerate(result)) for result in both(gathered)), "gathered")


def test_all_hear_of_what_any_says(both):
    said = [(False, False), (True, False), (False, True), (True, True)]
    heard = both(lambda one: [one.any(pair[one.rank]) for pair in said])
    assert heard == [[False, True, True, True]] * 2


def test_all_get_what_the_first_makes(both):
    def made(one: Processes) -> tuple:
        calls = []
        return one.first(lambda: calls.append(one.rank) or {"seed": 7}), calls

    assert both(made) == [({"seed": 7}, [0]), ({"seed": 7}, [])]


def test_the_others_end_when_the_first_has(both):
    def made(one: Processes) -> str:
        try:
            one.first(lambda: 1 / 0)
        except (ZeroDivisionError, OthersEnded) as error:
            return f"{type(error).__name__}: {error}"
        return "nothing"

    assert both(made) == [
        "ZeroDivisionError: division by zero",
        "OthersEnded: the first process has ended",
    ]


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


@pytest.mark.parametrize("parallel", ["ddp", "fsdp2"])
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


def test_learners_share_once_never_alone_and_optimizers_move_what_is_shared(both):
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
