"""FSDP2: of every weight of a network, each process keeps a share."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.optim import Optimizer


def shard(network: nn.Module) -> None:
    """Leave every process its share of each weight; layers are made whole in turn."""
    if not distributed.is_initialized():
        raise RuntimeError(
            "shard: a group of processes must have been joined, got none"
        )
    # Loaded for whom it serves alone: it takes seconds.
    from torch.distributed.fsdp import fully_shard

    # Of outputs that are views: nothing here writes into an output.
    warnings.filterwarnings("ignore", message="FSDP2-wrapped module")
    device = next(network.parameters()).device.type
    mesh = init_device_mesh(device, (distributed.get_world_size(),))
    for module in reversed(list(network.modules())):
        if isinstance(module, nn.ModuleList):
            for layer in module:
                fully_shard(layer, mesh=mesh)
    fully_shard(network, mesh=mesh)


@contextmanager
def whole(network: nn.Module) -> Iterator[None]:
    """While this lasts, a sharded network reads without asking the other processes.

    A response may end sooner on one process than on another, which then calls the
    network more often; what every call had to gather would be waited for in vain.
    """
    # By its methods, since to import its class takes seconds.
    shards: list[Any] = [x for x in network.modules() if hasattr(x, "unshard")]
    for part in shards:
        part.set_reshard_after_forward(False)
        part.unshard()
    try:
        yield
    finally:
        for part in shards:
            # As it was: the outermost is needed again at once, by the backward pass.
            part.set_reshard_after_forward(part is not network, recurse=False)
            part.reshard()


def gathered(state: Any) -> Any:
    """A state of networks and optimizers with whole tensors for shares."""
    if isinstance(state, dict):
        return {name: gathered(x) for name, x in state.items()}
    if isinstance(state, list):
        return [gathered(x) for x in state]
    return state.full_tensor().cpu() if _is_share(state) else state


def shares(state: dict[str, Any], of: nn.Module | Optimizer) -> dict[str, Any]:
    """What of a whole state a network or an optimizer is to load here."""
    if isinstance(of, nn.Module):
        own = of.state_dict()
        return type(state)(
            (name, _share(x, own[name]) if name in own else x)
            for name, x in state.items()
        )
    weights = [weight for group in of.param_groups for weight in group["params"]]
    remembered = {
        place: {name: _share(x, weights[place]) for name, x in entries.items()}
        for place, entries in state["state"].items()
    }
    return {**state, "state": remembered}


def _share(x: Any, like: Tensor) -> Any:
    if not _is_share(like) or not isinstance(x, Tensor) or x.shape != like.shape:
        return x
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(like, DTensor)
    return distribute_tensor(x.to(like.device), like.device_mesh, like.placements)


def _is_share(x: Any) -> bool:
    return hasattr(x, "full_tensor")
