"""The four modules, with an optimizer for each way in which one of them learns."""

import copy
from typing import Any

from torch import nn
from torch.optim import Adam

from ppo_ref.models import Actor, models_from


class Learners:
    """All weights of a run, and all that optimizers remember of it.

    Args:
        actor: From which the other three begin.
        lr: Of all optimizers, until it is set.
    """

    def __init__(self, actor: Actor, lr: float) -> None:
        self.models = models_from(actor)
        trained = {"imitation": actor, "reward": self.models.reward}
        trained |= {"actor": actor, "critic": self.models.critic}
        self.optimizers = {
            name: Adam(network.parameters(), lr) for name, network in trained.items()
        }

    def set_learning_rates(self, **rates: float) -> None:
        """Learn at other rates from now on.

        Args:
            rates: By the names of the optimizers.
        """
        for name, rate in rates.items():
            for group in self.optimizers[name].param_groups:
                group["lr"] = rate

    def state_dict(self) -> dict[str, Any]:
        """The weights of all networks, and all optimizers.

        Returns:
            Copies by name, which stay as they are when the run goes on.
        """
        states = {name: x.state_dict() for name, x in self._stateful().items()}
        return copy.deepcopy(states)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where others of the same sizes stood.

        Args:
            state: What ``state_dict`` gave; it may hold more, and stays as it is.
        """
        for name, x in self._stateful().items():
            # An optimizer would go on in the memory of the state.
            x.load_state_dict(copy.deepcopy(state[name]))

    def _stateful(self) -> dict[str, nn.Module | Adam]:
        optimizers = {f"{name} optimizer": x for name, x in self.optimizers.items()}
        return {**self.models._asdict(), **optimizers}
