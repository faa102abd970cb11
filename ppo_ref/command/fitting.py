"""The fit of a checkpoint and its run: one that is whole may still make no sense.

What is named in a refusal is the way to it, as in ``state.actor_optimizer.state.0``.
"""

import math
from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from ppo_ref.train.trainer import Trainer


def require_dict(where: str, held: Any, names: Collection[Any] = ()) -> None:
    """Refuse what is no dict, or lacks one of the names."""
    require_kind(where, held, dict)
    for name in names:
        if name not in held:
            raise ValueError(f"{where} must hold {name}")


def require_number(where: str, held: Any) -> None:
    """Refuse what is no finite number."""
    if isinstance(held, bool) or not isinstance(held, int | float):
        raise ValueError(f"{where} must be a number, got {held!r}")
    if not math.isfinite(held):
        raise ValueError(f"{where} must be finite, got {held}")


def require_state(trainer: Trainer, held: Any) -> None:
    """Refuse a state that the trainer could not go on from."""
    own = trainer.state_dict()
    require_dict("state", held, own)
    config = trainer.config
    for name, most in (
        ("imitated", config.warm_start_steps),
        ("rewarded", config.reward_model_steps),
        ("iteration", config.iterations),
    ):
        if type(held[name]) is not int or not 0 <= held[name] <= most:
            raise ValueError(f"{name} must lie in 0 to {most}, got {held[name]!r}")
    require_number("kl_coef", held["kl_coef"])
    for name, x in own.items():
        if name.endswith("_optimizer"):
            optimizer = getattr(trainer.learners, name)
            _require_optimizer(f"state.{name}", optimizer, held[name])
        elif isinstance(x, dict):
            require_dict(f"state.{name}", held[name], x)
            for of, weight in x.items():
                _require_form(f"state.{name}.{of}", held[name][of], weight)


def _require_optimizer(where: str, own: Optimizer, held: Any) -> None:
    """Settings as they are, but for the rate; memories of the shape of their weights.

    Another release of torch may know other settings.
    """
    require_dict(where, held, ("state", "param_groups"))
    require_kind(f"{where}.param_groups", held["param_groups"], list)
    groups = own.state_dict()["param_groups"]
    for place, (group, other) in enumerate(
        zip(groups, held["param_groups"], strict=True)
    ):
        which = f"{where}.param_groups.{place}"
        require_dict(which, other, ("lr", "params"))
        require_number(f"{which}.lr", other["lr"])
        for name in (group.keys() & other.keys()) - {"lr"}:
            if other[name] != group[name]:
                raise ValueError(
                    f"{which}.{name} must be {group[name]}, got {other[name]}"
                )
    require_dict(f"{where}.state", held["state"])
    weights = [weight for group in own.param_groups for weight in group["params"]]
    for place, kept in held["state"].items():
        which = f"{where}.state.{place}"
        if place not in range(len(weights)):
            raise ValueError(f"{which} must be of {len(weights)} weights")
        require_dict(which, kept, ("step", "exp_avg", "exp_avg_sq"))
        for name, x in kept.items():
            like = torch.zeros(()) if name == "step" else weights[place]
            _require_form(f"{which}.{name}", x, like)


def _require_form(where: str, held: Any, like: Tensor) -> None:
    """Refuse what is no tensor of this shape and dtype."""
    require_kind(where, held, Tensor)
    ours, theirs = (
        f"{str(x.dtype).removeprefix('torch.')} of shape {list(x.shape)}"
        for x in (like, held)
    )
    if ours != theirs:
        raise ValueError(f"{where} must be {ours}, got {theirs}")


def require_kind(where: str, held: Any, kind: type) -> None:
    """Refuse what is of another type."""
    if not isinstance(held, kind):
        raise ValueError(
            f"{where} must be a {kind.__name__}, got {type(held).__name__}"
        )
