"""What a process knows of the others that share the work of a run with it."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from ppo_ref.processes.sharding import shard


def averaged(network: nn.Module) -> Callable[..., Any]:
    """Let a backward pass through a loss leave the mean over all processes.

    The network itself stays as it is: it can be read, sampled from, copied and saved
    without the others.

    Args:
        network: The same everywhere, which is seen to.

    Returns:
        A function that calls the loss that it is handed first, with what follows.

    Raises:
        RuntimeError: if no group of processes has been joined.

    Example:
        >>> averaged(nn.Linear(1, 1))
        Traceback (most recent call last):
        RuntimeError: averaged: a group of processes must have been joined, got none
    """
    if not distributed.is_initialized():
        raise RuntimeError(
            "averaged: a group of processes must have been joined, got none"
        )
    return DistributedDataParallel(_Loss(network))


class _Loss(nn.Module):
    """Any loss seen as a network, since that is what DDP watches.

    Args:
        network: Whose weights the loss has.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, loss: Callable[..., Any], *given: Any) -> Any:
        """Call the loss.

        Args:
            loss: Calls the network.
            given: What the loss takes.

        Returns:
            What the loss gives.
        """
        return loss(*given)


PARALLEL = ("ddp", "fsdp2")

Made = TypeVar("Made")


class OthersEnded(RuntimeError):
    """Another process found that the run cannot go on, and has said why."""


class Processes:
    """One of the processes of a run; all take the same steps at the same time.

    Whoever is alone has every row and computes what it would without this.

    Args:
        rank: The number of this process, from 0.
        size: How many there are.
        parallel: What each keeps of actor and critic: ``ddp``, all of the weights, and
            gradients are averaged; ``fsdp2``, a share of weights, gradients and what
            the optimizer remembers.

    Raises:
        ValueError: if there is no such process, or ``parallel`` is neither.

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
        self._averaged: dict[nn.Module, Callable[..., Any]] = {}

    def rows(self, count: int) -> Tensor:
        """Which of some rows are this process's.

        Args:
            count: How many there are; a multiple of the number of processes.

        Returns:
            Their numbers, one after the other.

        Raises:
            ValueError: if the rows cannot be shared evenly.
        """
        if count % self.size:
            raise ValueError(
                f"Processes: rows must be a multiple of the {self.size} processes, "
                f"got {count}"
            )
        own = count // self.size
        return torch.arange(self.rank * own, (self.rank + 1) * own)

    def gather(self, rows: Tensor) -> Tensor:
        """The rows of all processes, in the order of ``rows``.

        Args:
            rows: Those of this process, without gradient; as many as every other's.

        Returns:
            The same on every process.
        """
        if self.size == 1:
            return rows
        sent = rows.contiguous()
        if rows.dtype == torch.bool:  # not every backend knows it
            sent = sent.byte()
        found = [torch.empty_like(sent) for _ in range(self.size)]
        distributed.all_gather(found, sent)
        return torch.cat(found).to(rows.dtype)

    def any(self, asked: bool) -> bool:
        """Whether any process says so: a decision that all must take alike.

        Args:
            asked: What this one says.

        Returns:
            The same on every process.
        """
        if self.size == 1:
            return asked
        said = torch.tensor(int(asked))
        distributed.all_reduce(said, distributed.ReduceOp.MAX)
        return bool(said)

    def first(self, make: Callable[[], Made]) -> Made:
        """What the first process makes, for all.

        Args:
            make: Is called by the first alone.

        Returns:
            The same on every process.

        Raises:
            OthersEnded: on the others, where the first raised.
        """
        if self.size == 1:
            return make()
        told: list[Any] = [None]
        try:
            if self.rank == 0:
                told = [(make(),)]
        finally:
            distributed.broadcast_object_list(told)
        if told[0] is None:
            raise OthersEnded("the first process has ended")
        made: Made = told[0][0]
        return made

    def same(self, network: nn.Module) -> None:
        """Give every process the weights of the first.

        Args:
            network: Of the same sizes everywhere; is changed.
        """
        if self.size > 1:
            for tensor in network.state_dict().values():
                distributed.broadcast(tensor, 0)

    def shard(self, network: nn.Module) -> None:
        """As ``ppo_ref.processes.sharding.shard``, if weights are to be shared.

        Args:
            network: Is changed; its optimizer has to be made after this.
        """
        if self.shards:
            shard(network)

    def averaging(
        self, network: nn.Module, loss: Callable[..., Any]
    ) -> Callable[..., Any]:
        """A loss whose gradient becomes the mean of those of all processes.

        Args:
            network: Whose gradients.
            loss: Calls the network; what it returns first is what goes backward.

        Returns:
            The loss, for the same arguments.
        """
        if not self._averages:
            return loss  # there is nothing to average, or FSDP2 does
        if network not in self._averaged:
            self._averaged[network] = averaged(network)
        return partial(self._averaged[network], loss)


ALONE = Processes()
