"""The four modules with the optimizers of those that learn."""

import copy
from functools import partial
from typing import Any

from torch import nn
from torch.optim import Adam, Optimizer

from ppo_ref.contracts.checks import require_index
from ppo_ref.processes.group import Processes
from ppo_ref.processes.sharding import gathered, shares
from ppo_ref.training.networks import Actor, models_from

REWARD_MODEL_LR = 2e-3


class Learners:
    """All weights of a run and all that their optimizers remember."""

    def __init__(self, actor: Actor, actor_lr: float, critic_lr: float) -> None:
        self.models = models_from(actor)
        self._rates, self._shared = (actor_lr, critic_lr), False
        self._make_optimizers()

    def share(self, processes: Processes) -> None:
        """Let all processes learn together, by the weights of the first."""
        if self._shared or processes.size == 1:
            return
        for network in self.models:
            processes.same(network)
        state = self.state_dict()
        for network in (self.models.actor, self.models.critic):
            processes.shard(network)
        self._make_optimizers()
        self.load_state_dict(state)
        self._shared = True

    def set_learning_rates(self, share: float) -> None:
        """Actor and critic learn at a share of their peak rates from now on."""
        for optimizer, peak in self._peaks.items():
            for group in optimizer.param_groups:
                group["lr"] = peak * share

    def state_dict(self) -> dict[str, Any]:
        """All weights, and all optimizers."""
        states = {name: x.state_dict() for name, x in self._stateful().items()}
        return copy.deepcopy(gathered(states))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where others of the same sizes stood."""
        for name, x in self._stateful().items():
            # An optimizer would go on in the memory of the state.
            x.load_state_dict(shares(copy.deepcopy(state[name]), of=x))

    def _make_optimizers(self) -> None:
        (actor, critic, _, reward), (actor_lr, critic_lr) = self.models, self._rates
        # All weights in one call of each operation: the same numbers in less time.
        adam = partial(Adam, foreach=True)
        self.imitation_optimizer = adam(actor.parameters())
        self.reward_optimizer = adam(reward.parameters(), REWARD_MODEL_LR)
        self.actor_optimizer = adam(actor.parameters(), actor_lr)
        self.critic_optimizer = adam(critic.parameters(), critic_lr)
        self._peaks = {self.actor_optimizer: actor_lr, self.critic_optimizer: critic_lr}

    def _stateful(self) -> dict[str, nn.Module | Optimizer]:
        return {
            **self.models._asdict(),
            "imitation_optimizer": self.imitation_optimizer,
            "reward_optimizer": self.reward_optimizer,
            "actor_optimizer": self.actor_optimizer,
            "critic_optimizer": self.critic_optimizer,
        }


def learning_rate_share(step: int, steps: int, warm_up: int) -> float:
    """The share of its peak that a learning rate has: it rises, then falls to 0.

        share = min((step + 1) / warm_up, 1 - step / steps)

    The first steps of Adam are long whatever the gradient, as its averages have seen
    little; the last ones should not undo each other.
    """
    require_index("learning_rate_share", steps, step=step)
    return min((step + 1) / warm_up, 1 - step / steps)
