"""The same updates and the same run, for one process and for each of several."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ppo_ref.batch import Experience
from ppo_ref.processes.group import ALONE, Processes
from ppo_ref.processes.sharding import gathered
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.trainer import Trainer, tiny_trainer
from ppo_ref.training.update import update_actor, update_critic
from tests import networks
from tests.networks import seeded

# Tokens of eight responses: many of one, few of the other; a half of single tokens.
RAGGED = (1, 9, 2, 4, 1, 5, 3, 1)
HALVES = (1, 1, 1, 1, 5, 5, 5, 5)
UPDATES = {
    "actor": (update_actor, networks.actor),
    "critic": (update_critic, networks.critic),
}


class Case(NamedTuple):
    """Lengths of the responses, and settings that differ."""

    lengths: tuple[int, ...]
    options: dict[str, float]


CASES = {
    "ragged": Case(RAGGED, {}),
    "halves": Case(HALVES, {"mini_batch_size": 8}),
    "micro-batches": Case(RAGGED, {"mini_batch_size": 8, "micro_batch_size": 1}),
    "uneven micro-batches": Case(
        (*RAGGED, 2, 7, 1, 1), {"mini_batch_size": 12, "micro_batch_size": 4}
    ),
    "epochs": Case(RAGGED, {"actor_epochs": 2, "critic_epochs": 2}),
    "clipped": Case(RAGGED, {"max_grad_norm": 1e-3}),
    "all terms": Case(HALVES, {"kl_loss_coef": 0.3, "entropy_coef": 0.2}),
    "stopped": Case(RAGGED, {"actor_epochs": 3, "max_kl": 0.2}),
}


class Apart(Processes):
    """Each takes the mean over its own tokens and DDP that of the means: the mistake.

    Args:
        rank: As in ``Processes``.
        size: As in ``Processes``.
    """

    def __init__(self, rank: int, size: int) -> None:
        super().__init__(rank, size, "ddp")
        self.rank, self.size = 0, 1  # whatever it is given is all its own


class Updated(NamedTuple):
    """All weights after an update, in one row, and its statistics."""

    weights: Tensor
    statistics: list[dict[str, float]]


def config(case: Case) -> PPOConfig:
    sizes = {"batch_size": len(case.lengths), "mini_batch_size": 4}
    return PPOConfig(**{**sizes, "micro_batch_size": 2, **case.options})


def experience(case: Case) -> Experience:
    return networks.experience(networks.actor(), *case.lengths)


def updated(
    which: str, case: Case, given: Experience, processes: Processes = ALONE
) -> Updated:
    """SGD with a rate of 1, by which the change of the weights is the gradient."""
    update, made = UPDATES[which]
    network = made()
    processes.shard(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    chosen = config(case)
    steps = update(network, optimizer, given, chosen, seeded(0), processes)
    statistics = list(steps)
    return Updated(vector(network), statistics)


def vector(network: nn.Module) -> Tensor:
    whole = gathered(dict(network.named_parameters()))
    return torch.cat([weight.detach().flatten() for weight in whole.values()])


def trainer(processes: Processes = ALONE, **options: Any) -> Trainer:
    """Small, in double precision, and after its imitation."""
    made = tiny_trainer(**SMALL, **options)
    made = Trainer(made.config, processes=processes)
    list(made.imitate())
    list(made.learn_reward())
    return made


SMALL = {
    "batch_size": 8,
    "mini_batch_size": 4,
    "actor_epochs": 2,
    "reward_model_steps": 1,
    "evaluate_every": 2,
}
