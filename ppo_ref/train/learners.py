"""The weights that learn in a run, their optimizers and their learning rates."""

import copy
from typing import Any

from torch import nn
from torch.optim import Adam, Optimizer

from ppo_ref.require import require_index
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.networks import Actor, models_from

REWARD_MODEL_LR = 2e-3
# Weights: from here on one operation for the whole step takes a sixth of the time. It
# rounds otherwise, and below there is nothing to save.
FUSED_FROM = 10**7


class Learners:
    """All weights of a run and all that their optimizers remember."""

    def __init__(self, actor: Actor, config: PPOConfig) -> None:
        self.models = models_from(
            actor,
            critic=config.critic_epochs > 0,
            reward=config.reward_model_steps > 0,
        )
        self.actor_lr, self.critic_lr = config.actor_lr, config.critic_lr
        self.imitation_optimizer = _adam(actor)
        self.actor_optimizer = _adam(actor, self.actor_lr)
        self.critic_optimizer = _adam_if_any(self.models.critic, self.critic_lr)
        self.reward_optimizer = _adam_if_any(self.models.reward, REWARD_MODEL_LR)

    def set_learning_rates(self, share: float) -> None:
        """Actor and critic learn at a share of their peak rates from now on."""
        set_learning_rate(self.actor_optimizer, self.actor_lr * share)
        if self.critic_optimizer is not None:
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
        held = {
            **self.models._asdict(),
            "imitation_optimizer": self.imitation_optimizer,
            "reward_optimizer": self.reward_optimizer,
            "actor_optimizer": self.actor_optimizer,
            "critic_optimizer": self.critic_optimizer,
        }
        return {name: it for name, it in held.items() if it is not None}


def _adam_if_any(network: nn.Module | None, learning_rate: float) -> Adam | None:
    return None if network is None else _adam(network, learning_rate)


def _adam(network: nn.Module, learning_rate: float = 1e-3) -> Adam:
    weights = list(network.parameters())
    if sum(weight.numel() for weight in weights) < FUSED_FROM:
        # All weights in one call of each operation: the same numbers in less time.
        return Adam(weights, learning_rate, foreach=True)
    return Adam(weights, learning_rate, fused=True)


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
