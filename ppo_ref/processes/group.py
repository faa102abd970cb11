"""What a process knows of the others that share the work of a run with it."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from ppo_ref.processes.sharding import shard

PARALLEL = ("ddp", "fsdp2")

T = TypeVar("T")


class OthersEnded(RuntimeError):
    """Another process found that the run cannot go on, and has said why."""


class Processes:
    """One of the processes of a run; all take the same steps at the same time.

    A process that is alone has every row and computes what it would without this. Under
    ``ddp`` each keeps all of actor and critic, and gradients are averaged; under
    ``fsdp2`` a share of weights, gradients and what the optimizer remembers.

    Example:
        >>> Processes(rank=1, size=4).rows(8)
        tensor([2, 3])
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
