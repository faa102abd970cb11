"""GAE asks a device for few operations: their number grows with the digits of T."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ppo_ref.advantages import gae
from ppo_ref.kernels.scan import discounted_residuals
from tests.strategies import numbers

VIEWS = {"slice", "select", "view", "unsqueeze", "expand", "alias", "detach"}


class Launches(TorchDispatchMode):
    """Counts what is more than another look at the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name not in VIEWS and not name.startswith("empty"):
            self.names.append(name)
        return function(*args, **kwargs or {})


def launches(function, time: int, discount: float = 1.0) -> list[str]:
    # On the meta device there is nothing to wait for: who asks for a number fails.
    rewards, values = torch.zeros(2, 2, time, device="meta")
    given = rewards, values, values.bool(), None, 1.0, discount
    with Launches() as counted:
        function(*given)
    return counted.names


@pytest.mark.parametrize("power", [3, 10, 17])
def test_two_launches_a_doubling(power):
    """A copy and an addition each; the rest does not depend on the length."""
    fixed = len(launches(discounted_residuals, 1))
    assert len(launches(discounted_residuals, 2**power)) == fixed + 2 * power
    assert fixed <= 16


def test_doubling_ends_where_weights_vanish():
    long, longer = (
        len(launches(discounted_residuals, 2**power, 0.95)) for power in (11, 17)
    )
    assert long == longer


def test_waiting_for_the_device_is_found():
    def impatient(rewards, *_):
        return bool(rewards.sum() > 0)

    with pytest.raises(RuntimeError, match="meta tensors"):
        launches(impatient, 8)


def test_the_checks_wait_once():
    rewards, values = numbers(0, 2, 2, 64).float()
    mask = torch.ones(2, 64, dtype=torch.bool)
    with Launches() as counted:
        gae(token_level_rewards=rewards, values=values, response_mask=mask)
    assert counted.names.count("_local_scalar_dense") == 1
