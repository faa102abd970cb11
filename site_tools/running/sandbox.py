"""The inside of the child process that runs one page.

Imported once by the fork server, so that a page does not pay for torch; torch
keeps to one thread, because a fork after a parallel operation hangs.
"""

import importlib
import os
import pickle
import pkgutil
import random
import warnings
from multiprocessing.connection import Connection
from typing import Any

import numpy
import torch

import ppo_ref
from site_tools.running import plots
from site_tools.running.block_run import evaluate, run_block, run_copy
from site_tools.running.execution import Failure, Result, Source

for module in pkgutil.walk_packages(ppo_ref.__path__, "ppo_ref."):
    if module.name != "ppo_ref.__main__":  # which would run
        importlib.import_module(module.name)
importlib.import_module("torch._dynamo")  # seconds, at the first optimizer otherwise
torch.set_num_threads(1)


def serve(
    connection: Connection,
    sources: list[Source],
    expressions: list[str],
    seed: int,
    folder: str,
    once: bool,
) -> None:
    """Run what is copied from each block alone, then all blocks in order.

    Sends, per block, the ``Result`` of running what is copied from it; then that of
    running it after those above, or None if it only runs alone; then, per expression,
    a number or a ``Failure``. Where blocks run once, the first of these are None.

    Args:
        connection: Where the results go.
        sources: The blocks of the page.
        expressions: The expressions bound to figures.
        seed: Differs between the languages, so that a block that draws numbers
            without a seed of its own cannot match its output in both.
        folder: An empty working folder.
        once: Whether no block runs alone, and each may draw.
    """
    os.setsid()  # so that the parent can end the forks along with this process
    os.chdir(folder)
    warnings.simplefilter("error")
    past = _redirect(folder)
    if once:
        plots.prepare()
    for number, source in enumerate(sources):
        alone = None if once else _apart(source, number, _fresh(seed), past)
        connection.send(alone)
    page = _fresh(seed)
    for number, source in enumerate(sources):
        together = None
        if not source.apart and (source.continues or not source.raises):
            # One that raises leaves no name behind.
            names = dict(page) if source.raises else page
            together = run_block(source, number, names, past, once)
        connection.send(together)
    for expression in expressions:
        connection.send(evaluate(expression, page))


def _redirect(folder: str) -> int:
    """Send what is written past Python's ``sys.stdout`` to a file, and return it."""
    past = os.open(os.path.join(folder, "past.txt"), os.O_CREAT | os.O_RDWR)
    os.dup2(past, 1)
    os.dup2(past, 2)
    return past


def _apart(source: Source, number: int, namespace: dict[str, Any], past: int) -> Result:
    """Run what is copied from a block in a fork of this process."""
    copied = source.text if source.copied is None else source.copied
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(run_copy(copied, number, namespace, past), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    os.waitpid(child, 0)
    if not sent:
        return Result("", Failure("ProcessEnded", "the block ended its process", ()))
    result: Result = pickle.loads(sent)
    return result


def _fresh(seed: int) -> dict[str, Any]:
    _seed(seed)
    return {"__name__": "__main__"}


def _seed(seed: int) -> None:
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
