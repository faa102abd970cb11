"""Put our functions where verl looks for its own."""

import functools
import importlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ppo_ref.inside_verl.actor_loss import compute_policy_loss
from ppo_ref.inside_verl.advantages import compute_gae_advantage_return
from ppo_ref.inside_verl.critic_loss import compute_value_loss

RELEASE = "0.9.1"
LOSS_MODE = "ppo_ref"

P = ParamSpec("P")
R = TypeVar("R")


def install() -> None:
    """Register the policy loss, and replace GAE and the value loss.

    Each of the three says so once per process, when it is first called.

    Raises:
        RuntimeError: if there is no verl, or another release than the one that this
            was tested with; nothing is replaced then.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, verl/trainer/ppo/ray_trainer.py
        and verl/workers/utils/losses.py.

    Example:
        >>> import sys
        >>> sys.modules["verl"] = None  # as where it is not installed
        >>> install()
        Traceback (most recent call last):
        RuntimeError: install: verl must be release 0.9.1, got none
        >>> del sys.modules["verl"]
    """
    found = _release()
    if found != RELEASE:
        raise RuntimeError(f"install: verl must be release {RELEASE}, got {found}")
    core_algos: Any = importlib.import_module("verl.trainer.ppo.core_algos")
    losses: Any = importlib.import_module("verl.workers.utils.losses")
    if LOSS_MODE in core_algos.POLICY_LOSS_REGISTRY:
        return
    gae = _told("GAE", compute_gae_advantage_return)
    value_loss = _told("the value loss", compute_value_loss)
    policy_loss = _told("the policy loss", compute_policy_loss)
    core_algos.compute_gae_advantage_return = gae
    core_algos.ADV_ESTIMATOR_REGISTRY["gae"] = gae
    core_algos.compute_value_loss = value_loss
    losses.compute_value_loss = value_loss  # taken by name, when verl was imported
    core_algos.register_policy_loss(LOSS_MODE)(policy_loss)


def _release() -> str:
    try:
        return str(importlib.import_module("verl").__version__)
    except ModuleNotFoundError as missing:
        if missing.name != "verl":
            raise
        return "none"


def _told(what: str, function: Callable[P, R]) -> Callable[P, R]:
    """The same function; the first call of it in this process says so."""
    told = False

    @functools.wraps(function)
    def telling(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal told
        if not told:
            told = True
            print(f"ppo_ref computes {what} (verl {RELEASE})", flush=True)
        return function(*args, **kwargs)

    return telling
