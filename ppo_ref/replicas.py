"""DDP: each process has all weights of a network, and the mean of the gradients."""

from collections.abc import Callable
from typing import Any

from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel


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
