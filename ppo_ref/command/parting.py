"""When one of several processes ends: the others say so, once, and end."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from torch import distributed

from ppo_ref.command.joining import is_one_of_many
from ppo_ref.processes.group import OthersEnded

ENDED = 1  # the exit code of a process that another has left
SOON = timedelta(seconds=5)
# Whoever obeys an order to end waits for what is being said.
SPEAKING = threading.Lock()


def say(sentence: str) -> None:
    """Say why the run has failed, unless another process has said why.

    Args:
        sentence: Why.

    Example:
        >>> from contextlib import redirect_stderr
        >>> with redirect_stderr(sys.stdout):
        ...     say("No space left.")
        No space left.
    """
    with SPEAKING:
        if not is_one_of_many() or _is_first():
            print(sentence, file=sys.stderr, flush=True)


def is_parting(error: RuntimeError) -> bool:
    """Whether an error says no more than that another process has gone.

    Args:
        error: Raised where processes exchange tensors.

    Returns:
        False if the error is of this process.

    Example:
        >>> is_parting(RuntimeError("[/gloo/pair.cc:1] Connection closed by peer"))
        True
        >>> is_parting(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
        False
    """
    kinds = OthersEnded, distributed.DistError
    return isinstance(error, kinds) or any(
        word in str(error).lower() for word in ("gloo", "nccl", "closed by peer")
    )


@contextmanager
def parting(sentence: str) -> Iterator[None]:
    """While this lasts, torchrun's order to end is obeyed with a word of why.

    torchrun gives it (SIGTERM) to all others when one process has ended. A thread
    obeys, since the process may wait inside a GPU's library and hear no signal.

    Args:
        sentence: To say then.

    Returns:
        A context, which is nothing to a process that is alone.

    Example:
        >>> with parting("A process of the run has ended."):
        ...     pass
    """
    if not is_one_of_many():
        yield
        return
    hears, tells = os.pipe()
    os.set_blocking(tells, False)

    def obey() -> None:
        while heard := os.read(hears, 1):
            if heard[0] == signal.SIGTERM:
                say(sentence)
                os._exit(ENDED)

    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.set_wakeup_fd(tells)
    threading.Thread(target=obey, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, before)
        os.close(tells)


def _is_first() -> bool:
    """Whether nobody has spoken yet, as torchrun's own store knows."""
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return True
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    with suppress(RuntimeError, ValueError):  # torchrun itself may have ended
        store = distributed.TCPStore(  # type: ignore[attr-defined]
            address, port, is_master=False, timeout=SOON
        )
        life = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        return bool(store.add(f"ppo_ref has spoken {life}", 1) == 1)
    return True
