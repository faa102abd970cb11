"""TorchRL and Stable-Baselines3 as published, under our names and signatures.

Their batches are of environments: a step is done, for it terminated or was truncated.
An answer is an episode that is done at its last token. They have no mask, so what lies
behind the end is a further episode to them, and a gap in an answer cannot be said.
"""

import math
from functools import cache
from types import SimpleNamespace

import numpy
import torch
from torch import Tensor

from tests.differential.wheels import cut

TORCHRL, STABLE = "TorchRL 0.14.1", "Stable-Baselines3 2.9.2"
FUNCTIONAL = "torchrl/objectives/value/functional.py"
CONVOLUTION = "torchrl/objectives/value/utils.py"
BUFFERS = "stable_baselines3/common/buffers.py"


def expand_right(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """What tensordict gives TorchRL by this name: trailing axes, broadcast."""
    return tensor[(..., *[None] * (len(shape) - tensor.ndim))].expand(shape)


@cache
def torchrl() -> SimpleNamespace:
    """TorchRL's two estimators; they take [batch, time, 1] and time at -2."""
    names = "_custom_conv1d", "_get_num_per_traj", "_split_and_pad_sequence"
    gammas = "_make_gammas_tensor", "roll_by_gather", "_flatten_batch"
    tensordict = {"TensorDictBase": type(None), "expand_right": expand_right}
    helpers = cut(TORCHRL, CONVOLUTION, *names, *gammas, **tensordict)
    loop, vectorised = "generalized_advantage_estimate", "_fast_vec_gae"
    wanted = loop, f"vec_{loop}", vectorised, "_geom_series_like"
    compiling = torch.compiler.is_dynamo_compiling
    given = {"math": math, "is_dynamo_compiling": compiling}
    return cut(TORCHRL, FUNCTIONAL, *wanted, **given, **vars(helpers))


def episodes(
    values: Tensor, response_mask: Tensor, bootstrap_values: Tensor | None
) -> dict[str, Tensor]:
    """TorchRL's arguments but for the reward; a truncated answer did not terminate."""
    batch, time = values.shape
    last = response_mask.sum(1) - 1
    done = torch.arange(time) >= last[:, None]
    following = torch.cat([values[:, 1:], values.new_zeros(batch, 1)], 1)
    terminated = done.clone()
    if bootstrap_values is not None:
        rows = torch.arange(batch)
        following[rows, last] = bootstrap_values
        terminated[rows, last] = False
    given = {"next_state_value": following, "done": done, "terminated": terminated}
    return {"state_value": values, **given}


def torchrl_gae(
    name: str,
    *,
    token_level_rewards: Tensor,
    values: Tensor,
    response_mask: Tensor,
    gamma: float = 1.0,
    gae_lambda: float = 1.0,
    bootstrap_values: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Advantages and returns, by TorchRL's function of that name."""
    steps = episodes(values, response_mask, bootstrap_values)
    columns = {key: tensor.unsqueeze(-1) for key, tensor in steps.items()}
    given = {"reward": token_level_rewards.unsqueeze(-1), **columns}
    advantages, returns = getattr(torchrl(), name)(gamma, gae_lambda, **given)
    return advantages.squeeze(-1), returns.squeeze(-1)


@cache
def stable():
    """``RolloutBuffer.compute_returns_and_advantage``, which wants a buffer as self."""
    name = "compute_returns_and_advantage"
    return getattr(cut(STABLE, BUFFERS, f"RolloutBuffer.{name}", np=numpy), name)


def stable_buffer(
    *, rewards: Tensor, values: Tensor, done: Tensor, gamma: float, gae_lambda: float
) -> SimpleNamespace:
    """A full ``RolloutBuffer`` [time, batch], of tensors [batch, time]."""
    starts = torch.cat([torch.ones_like(done[:, :1]), done[:, :-1]], 1)
    rows = {"rewards": rewards, "values": values, "episode_starts": starts.to(values)}
    columns = {name: tensor.T.contiguous().numpy() for name, tensor in rows.items()}
    given = {"gamma": gamma, "gae_lambda": gae_lambda, "buffer_size": values.shape[1]}
    return SimpleNamespace(
        **columns, **given, advantages=numpy.zeros_like(columns["values"])
    )
