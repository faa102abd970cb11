"""Functions that run on two processes, forks of this one."""

import io
import multiprocessing
import tempfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import torch
from torch import distributed

from ppo_ref.processes import Processes

FORK = multiprocessing.get_context("fork")


@pytest.fixture(scope="session")
def both(tmp_path_factory) -> Callable[[Callable[[Processes], Any]], list[Any]]:
    """What a function returns on each of two processes."""
    folder = tmp_path_factory.mktemp("both")

    def run(function: Callable[[Processes], Any], parallel: str = "ddp") -> list[Any]:
        pipes, store = [], f"file://{tempfile.mkdtemp(dir=folder)}/store"
        for rank in range(2):
            ours, theirs = FORK.Pipe(duplex=False)
            asked = (function, rank, parallel, store, theirs)
            FORK.Process(target=_member, args=asked, daemon=True).start()
            theirs.close()
            pipes.append(ours)
        answers = [io.BytesIO(pipe.recv_bytes()) for pipe in pipes]
        return [torch.load(answer, weights_only=False) for answer in answers]

    return run


def _member(function, rank, parallel, store, answer):
    torch.set_num_threads(1)
    # So that whoever waits for what never comes ends too.
    most = timedelta(seconds=60)
    distributed.init_process_group("gloo", store, most, rank=rank, world_size=2)
    try:
        written = io.BytesIO()
        torch.save(function(Processes(rank, 2, parallel)), written)
        answer.send_bytes(written.getvalue())
    finally:
        distributed.destroy_process_group()
