"""What a process knows of the others that share the work of a run with it.

Under DDP each keeps all of a network, under FSDP2 its share of every weight.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

PARALLEL = ("ddp", "fsdp2")

T = TypeVar("T")


class OthersEnded(RuntimeError):
    """Another process found that the run cannot go on, and has said why."""


class Processes:
    """One of the processes of a run; all take the same steps at the same time.

    A process that is alone has every row and computes what it would without this. Under
    ``ddp`` each keeps all of actor and critic, and gradients are averaged; under
    ``fsdp2`` a share of weights, gradients and what the optimizer remembers.
    """

    def __init__(self, rank: int = 0, size: int = 1, parallel: str = "ddp") -> None:
        if not 0 <= rank < size:
            raise ValueError(
                f"Processes: rank must be from 0 to below size {size}, got {rank}"
            )
        if parallel not in PARALLEL:
            raise ValueError(
                f"Processes: parallel must be one of {', '.join(PARALLEL)}, "
                f"got {parallel!r}"
            )
        self.rank, self.size = rank, size
        self.shards = size > 1 and parallel == "fsdp2"
        self._averages = size > 1 and parallel == "ddp"
        self._replicas: dict[nn.Module, DistributedDataParallel] = {}

    def rows(self, count: int) -> Tensor:
        """The numbers of this process's rows, of so many; all have equally many."""
        if count % self.size:
            raise ValueError(
                f"Processes: rows must be a multiple of the {self.size} processes, "
                f"got {count}"
            )
        own = count // self.size
        return torch.arange(self.rank * own, (self.rank + 1) * own)

    def gather(self, rows: Any) -> Any:
        """The rows of all processes in the order of ``rows``, without gradient.

        Takes a tensor, or a named tuple of them, of as many rows as every other's.
        """
        if self.size == 1:
            return rows
        if not isinstance(rows, Tensor):
            return type(rows)(*map(self.gather, rows))
        sent = rows.contiguous()
        if rows.dtype == torch.bool:  # not every backend knows it
            sent = sent.byte()
        received = [torch.empty_like(sent) for _ in range(self.size)]
        distributed.all_gather(received, sent)
        return torch.cat(received).to(rows.dtype)

    def any(self, flag: bool) -> bool:
        """Whether the flag is set on any process: a decision that all take alike."""
        if self.size == 1:
            return flag
        flags = torch.tensor(int(flag))
        distributed.all_reduce(flags, distributed.ReduceOp.MAX)
        return bool(flags)

    def first(self, make: Callable[[], T]) -> T:
        """What the first process makes, on all; where it raises, ``OthersEnded``."""
        if self.size == 1:
            return make()
        made: list[Any] = [None]
        try:
            if self.rank == 0:
                made = [(make(),)]
        finally:
            distributed.broadcast_object_list(made)
        if made[0] is None:
            raise OthersEnded("the first process has ended")
        (result,) = made[0]
        return result  # type: ignore[no-any-return]

    def at_once(self, jobs: Iterable[Callable[[], T]], device: torch.device) -> list[T]:
        """What each job gives; two are done side by side where a core would be idle.

        That is on a CPU whose operations have a thread each. Several processes must
        speak to each other in the same order, and a GPU would only need the memory of
        two.
        """
        idle = device.type == "cpu" and torch.get_num_threads() == 1
        if self.size > 1 or not idle:
            return [job() for job in jobs]
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda job: job(), jobs))

    def same(self, network: nn.Module) -> None:
        """Give every process the weights of the first."""
        if self.size > 1:
            for tensor in network.state_dict().values():
                distributed.broadcast(tensor, 0)

    def shard(self, network: nn.Module) -> None:
        """Shard a network under ``fsdp2``; its optimizer has to be made after this."""
        if self.shards:
            shard(network)

    def averaging(self, network: nn.Module, loss: Callable[..., T]) -> Callable[..., T]:
        """The loss, so that its gradient becomes the mean of those of all processes.

        The network itself can still be read, sampled from, copied and saved alone.
        """
        if not self._averages:
            return loss  # there is nothing to average, or FSDP2 does
        if network not in self._replicas:
            self._replicas[network] = DistributedDataParallel(_Replica(network))
        return partial(self._replicas[network], loss)


class _Replica(nn.Module):
    """DDP averages gradients of what its module's ``forward`` returns: here a loss."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, loss: Callable[..., T], *inputs: Any) -> T:
        """Call the loss, which calls the network."""
        return loss(*inputs)


ALONE = Processes()


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
