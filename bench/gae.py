"""GAE on one batch: ours, peers' and a copy of the same bytes.

*padded*: responses of 25 to 100 % of the row. *masked*: the same, and in every other
row gaps of 32 tokens, as a tool's answers leave them. *dense*: every slot counts,
because TorchRL and Stable-Baselines3 have no mask.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from bench.measuring import Comparison, Contender
from ppo_ref.advantages import gae
from ppo_ref.kernels.scan import discounted_residuals
from tests.differential import control_peers, peers, wheels

SUBJECT = "gae"
SIZES = ((8, 128), (64, 1024), (256, 2048), (32, 8192), (4, 32768))
GAMMA, LAMBDA = 1.0, 0.95
GAP = 32
TORCHRL = f"{control_peers.TORCHRL} vectorised"
PEERS = dict(
    release.split()
    for release in (peers.NOW, control_peers.TORCHRL, control_peers.STABLE)
)


class Rows(NamedTuple):
    """One batch."""

    token_level_rewards: Tensor
    values: Tensor
    response_mask: Tensor


def comparisons(quick: bool, device: str) -> Iterator[Comparison]:
    """Each size with a mask and without."""
    for batch, time in SIZES[:1] if quick else SIZES:
        for kind in ("padded", "masked", "dense"):
            yield Comparison(
                SUBJECT,
                f"{kind} {batch}x{time}",
                partial(contenders, kind, batch, time, device),
                sizes={"batch": batch, "time": time},
                seconds=0.01 if quick else 1,
                rounds=3 if quick else 7,
            )


def rows(kind: str, batch: int, time: int, device: str) -> Rows:
    """Noise, in float32, the same in every run."""
    generator = torch.Generator().manual_seed(0)
    rewards, values = torch.randn(2, batch, time, generator=generator)
    mask = torch.ones(batch, time, dtype=torch.bool)
    if kind != "dense":
        slots = torch.arange(time)
        lengths = torch.linspace(time / 4, time, batch).long()[:, None]
        mask = slots < lengths
    if kind == "masked":
        mask &= (slots // GAP % 4 != 1) | (torch.arange(batch) % 2 == 0)[:, None]
    return Rows(rewards.to(device), values.to(device), mask.to(device))


def contenders(kind: str, batch: int, time: int, device: str) -> dict[str, Contender]:
    """Whoever can run it here."""
    given = rows(kind, batch, time, device)
    found = ours(given) | {"copy": copy(given)}
    if kind != "dense" and wheels.find(peers.NOW):
        found[peers.NOW] = loop(given)
    if kind == "dense" and wheels.find(control_peers.TORCHRL):
        found[TORCHRL] = torchrl(given)
    if kind == "dense" and device == "cpu" and wheels.find(control_peers.STABLE):
        found[control_peers.STABLE] = stable(given)
    return found


def ours(given: Rows) -> dict[str, Contender]:
    """The checked function, and the kernel beneath it."""
    factors = {"gamma": GAMMA, "gae_lambda": LAMBDA}
    return {
        "gae": partial(gae, **given._asdict(), **factors),
        "kernel": partial(
            discounted_residuals, *given, None, GAMMA, discount=GAMMA * LAMBDA
        ),
    }


def loop(given: Rows) -> Contender:
    """verl's own loop, with its float mask; its whitening is left out."""
    function = peers.core(peers.NOW, "identity").compute_gae_advantage_return
    mask = given.response_mask.float()
    return partial(
        function, given.token_level_rewards, given.values, mask, GAMMA, LAMBDA
    )


def torchrl(given: Rows) -> Contender:
    """TorchRL's convolution, its arguments laid out beforehand."""
    rewards, values, mask = given
    done = torch.zeros_like(mask)
    done[:, -1] = True
    following = torch.cat([values[:, 1:], torch.zeros_like(values[:, :1])], 1)
    steps = {"next_state_value": following, "done": done, "terminated": done}
    named = {"state_value": values, "reward": rewards, **steps}
    columns = {name: tensor.unsqueeze(-1) for name, tensor in named.items()}
    function = control_peers.torchrl().vec_generalized_advantage_estimate
    return partial(function, GAMMA, LAMBDA, **columns)


def stable(given: Rows) -> Contender:
    """Stable-Baselines3's loop over numpy, its buffer laid out beforehand."""
    rewards, values, mask = given
    factors = {"gamma": GAMMA, "gae_lambda": LAMBDA}
    buffer = control_peers.stable_buffer(
        rewards=rewards, values=values, done=torch.zeros_like(mask), **factors
    )
    ended = numpy.ones(len(values), dtype=bool)
    return partial(control_peers.stable(), buffer, values[:, -1], ended)


def copy(given: Rows) -> Contender:
    """What GAE reads and writes, copied: two arrays in, two out, and the mask."""
    source = torch.cat([*given[:2], *given[:2]])
    mask, targets = given.response_mask, torch.empty_like(source)
    target = torch.empty_like(mask)

    def run() -> None:
        targets.copy_(source)
        target.copy_(mask)

    return run
