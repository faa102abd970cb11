"""The processes that torchrun has begun: what each is told, and how they find another.

torchrun tells them by the environment; https://docs.pytorch.org, torchrun, has the
names.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

import torch
from torch import distributed

from ppo_ref.processes.group import ALONE, Processes

TOLD = "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"
PATIENCE = timedelta(minutes=10)  # with a process that lives, but does not answer


def begin(processes: int, shards: bool = False) -> str:
    """The command that trains on so many processes of this machine.

    Args:
        processes: How many.
        shards: Whether they share the weights, as the run's folder does not tell.

    Returns:
        What to type before the options that the folder keeps.

    Example:
        >>> begin(1), begin(2)
        ('python -m ppo_ref train', 'torchrun --nproc-per-node=2 -m ppo_ref train')
        >>> begin(4, shards=True).partition("train")[2]
        ' --parallel fsdp2'
    """
    if processes == 1:
        return "python -m ppo_ref train"
    told = " --parallel fsdp2" if shards else ""
    return f"torchrun --nproc-per-node={processes} -m ppo_ref train{told}"


def is_one_of_many(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process shares its run with others.

    Args:
        environment: Of the process.

    Returns:
        True also if what it was told is not enough to find them.

    Example:
        >>> is_one_of_many({}), is_one_of_many({"WORLD_SIZE": "2"})
        (False, True)
    """
    return environment.get("WORLD_SIZE", "1") != "1"


@contextmanager
def joined(parallel: str | None) -> Iterator[Processes]:
    """The processes of this run, for as long as they work together.

    Args:
        parallel: As in ``Processes``; ``ddp`` if None.

    Returns:
        A context; alone in it is who was not begun by torchrun.

    Raises:
        ValueError: if the environment does not say who the others are, or ``parallel``
            is asked for alone.

    Example:
        >>> with joined(None) as processes:
        ...     processes.rank, processes.size
        (0, 1)
    """
    if not is_one_of_many():
        if parallel and "WORLD_SIZE" not in os.environ:
            raise ValueError(
                f"--parallel is of more than one process; begin the run by: {begin(2)}"
            )
        yield ALONE
        return
    rank, size = _told(os.environ)
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, timeout=PATIENCE)
    yield Processes(rank, size, parallel or "ddp")
    # Not after an error: the others would hear of it before the user does.
    distributed.destroy_process_group()


def take_own_gpu() -> None:
    """Let ``cuda`` mean the GPU that is this process's.

    Raises:
        ValueError: if there are more processes on this machine than GPUs.

    Example:
        >>> take_own_gpu()  # alone, it is the first
    """
    if not is_one_of_many():
        return
    own, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    here = int(os.environ.get("LOCAL_WORLD_SIZE", own + 1))
    if here > gpus:
        raise ValueError(
            f"--nproc-per-node must be at most the number of GPUs, {gpus}, got {here}; "
            "or use --device cpu"
        )
    torch.cuda.set_device(own)


def _told(environment: Mapping[str, str]) -> tuple[int, int]:
    """Rank and size."""
    for name in TOLD:
        if name not in environment:
            raise ValueError(
                f"WORLD_SIZE says that there are {environment['WORLD_SIZE']} "
                f"processes, but {name} is missing; begin the run by: {begin(2)}"
            )
    try:
        return int(environment["RANK"]), int(environment["WORLD_SIZE"])
    except ValueError:
        came = f"{environment['RANK']!r} and {environment['WORLD_SIZE']!r}"
        raise ValueError(f"RANK and WORLD_SIZE must be numbers, got {came}") from None
