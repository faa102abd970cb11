"""The processes that torchrun starts: how they join, who speaks, how all end.

torchrun tells each process its place by the environment; https://docs.pytorch.org,
torchrun, has the names. When a process has ended, torchrun orders the others to end
(SIGTERM).
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import torch
from torch import distributed

from ppo_ref.command.terminal import printable
from ppo_ref.processes import ALONE, OthersEnded, Processes

VARIABLES = "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"
PATIENCE = timedelta(minutes=10)  # with a process that lives, but does not answer
SOON = timedelta(seconds=5)
STOPPED = 1  # the exit code of a process that ends because another has ended
# The thread that obeys an order to end waits until a sentence is complete.
SPEAKING = threading.Lock()


def start_command(processes: int, shards: bool = False) -> str:
    """The command that trains on so many processes, ``shards`` or not."""
    if processes == 1:
        return "python -m ppo_ref train"
    parallel = " --parallel fsdp2" if shards else ""
    return f"torchrun --nproc-per-node={processes} -m ppo_ref train{parallel}"


def is_one_of_many() -> bool:
    """Whether this process shares its run with others, or was told so."""
    return os.environ.get("WORLD_SIZE", "1") != "1"


@contextmanager
def join(parallel: str | None) -> Iterator[Processes]:
    """The processes of this run, while they work together; ``parallel`` or else ddp."""
    if not is_one_of_many():
        if parallel and "WORLD_SIZE" not in os.environ:
            raise ValueError(
                "--parallel is of more than one process; begin the run by: "
                f"{start_command(2)}"
            )
        yield ALONE
        return
    for name in VARIABLES:
        if name not in os.environ:
            raise ValueError(
                f"WORLD_SIZE says that there are {os.environ['WORLD_SIZE']} "
                f"processes, but {name} is missing; begin the run by: "
                f"{start_command(2)}"
            )
    rank, size = os.environ["RANK"], os.environ["WORLD_SIZE"]
    if not (rank.isdigit() and size.isdigit()):
        raise ValueError(
            f"RANK and WORLD_SIZE must be numbers, got {rank!r} and {size!r}"
        )
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    distributed.init_process_group(backend, timeout=PATIENCE)
    yield Processes(int(rank), int(size), parallel or "ddp")
    # Not after an error: the others would hear of it before the user does.
    distributed.destroy_process_group()


def take_own_gpu() -> None:
    """Let ``cuda`` mean this process's GPU; there must be one for each process."""
    if not is_one_of_many():
        return
    rank, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    here = int(os.environ.get("LOCAL_WORLD_SIZE", rank + 1))
    if here > gpus:
        raise ValueError(
            f"--nproc-per-node must be at most the number of GPUs, {gpus}, got {here}; "
            "or use --device cpu"
        )
    torch.cuda.set_device(rank)


def say(sentence: str) -> None:
    """Print why the run ends, unless another process has printed why."""
    with SPEAKING:
        if not is_one_of_many() or _speaks_first():
            print(printable(sentence), file=sys.stderr, flush=True)


@contextmanager
def end_with_others(sentence: str) -> Iterator[None]:
    """While this lasts, torchrun's order to end is obeyed, and the sentence said.

    An error of torch may only mean that another process has gone, in whatever words
    its library has for that. torchrun knows: if it gives the order soon, that was the
    reason; if it does not, the error is this process's own.
    """
    if not is_one_of_many():
        yield
        return
    # A thread obeys, since the process may wait inside a GPU's library.
    order, write = os.pipe()
    os.set_blocking(write, False)

    def obey() -> None:
        while number := os.read(order, 1):
            if number[0] == signal.SIGTERM:
                say(sentence)
                os._exit(STOPPED)

    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.set_wakeup_fd(write)
    threading.Thread(target=obey, daemon=True).start()
    try:
        yield
    except OthersEnded:
        raise
    except RuntimeError:
        time.sleep(SOON.total_seconds())
        raise
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, before)
        os.close(write)


def _speaks_first() -> bool:
    """Whether no process has spoken yet, as torchrun's own store knows."""
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return True
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    with suppress(RuntimeError, ValueError):  # torchrun itself may have ended
        store = distributed.TCPStore(  # type: ignore[attr-defined]
            address, port, is_master=False, timeout=SOON
        )
        restarts = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        return bool(store.add(f"ppo_ref has spoken {restarts}", 1) == 1)
    return True
