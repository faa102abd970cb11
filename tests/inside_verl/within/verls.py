"""verl's own three functions, taken before ours are in their place."""

from contextlib import contextmanager

import pytest
from verl.trainer.ppo import core_algos
from verl.workers.utils import losses

GAE = core_algos.compute_gae_advantage_return
VALUE_LOSS = core_algos.compute_value_loss
POLICY_LOSS = core_algos.compute_policy_loss_vanilla

import ppo_ref.verl_plugin  # noqa: E402, F401


@contextmanager
def originals():
    """verl as it was published."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_algos, "compute_gae_advantage_return", GAE)
        patch.setattr(core_algos, "compute_value_loss", VALUE_LOSS)
        patch.setattr(losses, "compute_value_loss", VALUE_LOSS)
        yield


def bomb(*args, **kwargs):
    raise AssertionError("verl's own function was called")


@contextmanager
def bombs():
    """verl's own functions blow up, whoever still holds them."""
    with pytest.MonkeyPatch.context() as patch:
        for function in (GAE, VALUE_LOSS, POLICY_LOSS):
            patch.setattr(function, "__code__", bomb.__code__)
        yield
