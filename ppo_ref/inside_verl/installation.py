"""Put our functions where verl looks for its own."""

import functools
import importlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ppo_ref.inside_verl.advantages import compute_gae_advantage_return
from ppo_ref.inside_verl.losses import compute_policy_loss, compute_value_loss

RELEASE = "0.9.1"
LOSS_MODE = "ppo_ref"

P = ParamSpec("P")
R = TypeVar("R")


def install() -> None:
    """Register the policy loss, and replace GAE and the value loss.

    Each of the three says so once per process, when it is first called. Where verl is
    missing or of another release, nothing is replaced and a RuntimeError says so.
    """
    release = _release()
    if release != RELEASE:
        raise RuntimeError(f"install: verl must be release {RELEASE}, got {release}")
    core_algos: Any = importlib.import_module("verl.trainer.ppo.core_algos")
    losses: Any = importlib.import_module("verl.workers.utils.losses")
    if LOSS_MODE in core_algos.POLICY_LOSS_REGISTRY:
        return
    gae = _announced("GAE", compute_gae_advantage_return)
    value_loss = _announced("the value loss", compute_value_loss)
    policy_loss = _announced("the policy loss", compute_policy_loss)
    core_algos.compute_gae_advantage_return = gae
    core_algos.ADV_ESTIMATOR_REGISTRY["gae"] = gae
    core_algos.compute_value_loss = value_loss
    losses.compute_value_loss = value_loss  # it copied the name when it was imported
    core_algos.register_policy_loss(LOSS_MODE)(policy_loss)


def _release() -> str:
    try:
        return str(importlib.import_module("verl").__version__)
    except ModuleNotFoundError as missing:
        if missing.name != "verl":
            raise
        return "none"


def _announced(what: str, function: Callable[P, R]) -> Callable[P, R]:
    """The same function; its first call in this process prints a line."""
    first = True

    @functools.wraps(function)
    def announced(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal first
        if first:
            first = False
            print(f"ppo_ref computes {what} (verl {RELEASE})", flush=True)
        return function(*args, **kwargs)

    return announced
