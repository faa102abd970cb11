"""The weights that learn in a run, their optimizers and their learning rates."""

import copy
from typing import Any

from torch import nn
from torch.optim import Adam, Optimizer

from ppo_ref.require import require_index
from ppo_ref.train.networks import Actor, models_from

REWARD_MODEL_LR = 2e-3


class Learners:
    """All weights of a run and all that their optimizers remember."""

    def __init__(self, actor: Actor, actor_lr: float, critic_lr: float) -> None:
        self.models = models_from(actor)
        self.actor_lr = actor_lr
        self.critic_lr = critic_lr
        self.imitation_optimizer = _adam(self.models.actor)
        self.reward_optimizer = _adam(self.models.reward, REWARD_MODEL_LR)
        self.actor_optimizer = _adam(self.models.actor, actor_lr)
        self.critic_optimizer = _adam(self.models.critic, critic_lr)

    def set_learning_rates(self, share: float) -> None:
        """Actor and critic learn at a share of their peak rates from now on."""
        set_learning_rate(self.actor_optimizer, self.actor_lr * share)
        set_learning_rate(self.critic_optimizer, self.critic_lr * share)

    def state_dict(self) -> dict[str, Any]:
        """All weights, and all optimizers."""
        states = {}
        for name, learner in self._stateful().items():
            states[name] = learner.state_dict()
        return copy.deepcopy(states)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where others of the same sizes stood."""
        for name, learner in self._stateful().items():
            # An optimizer would go on in the memory of the state.
            learner.load_state_dict(copy.deepcopy(state[name]))

    def _stateful(self) -> dict[str, nn.Module | Optimizer]:
        return {
            **self.models._asdict(),
            "imitation_optimizer": self.imitation_optimizer,
            "reward_optimizer": self.reward_optimizer,
            "actor_optimizer": self.actor_optimizer,
            "critic_optimizer": self.critic_optimizer,
        }


def _adam(network: nn.Module, learning_rate: float = 1e-3) -> Adam:
    # All weights in one call of each operation: the same numbers in less time.
    return Adam(network.parameters(), learning_rate, foreach=True)


def set_learning_rate(optimizer: Optimizer, learning_rate: float) -> None:
    """All weights of an optimizer learn at this rate from now on."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate


def learning_rate_share(step: int, steps: int, warm_up: int) -> float:
    """The share of its peak that a learning rate has: it rises, then falls to 0.

        share = min((step + 1) / warm_up, 1 - step / steps)

    The first steps of Adam are long whatever the gradient, as its averages have seen
    little; the last ones should not undo each other.
    """
    require_index("learning_rate_share", steps, step=step)
    rising = (step + 1) / warm_up
    falling = 1 - step / steps
    return min(rising, falling)
