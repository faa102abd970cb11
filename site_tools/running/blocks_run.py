"""The inside of a process that runs blocks and is confined before it does."""

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy
import torch

from site_tools.confinement.confine import Confinement
from site_tools.page.page import LANGUAGES
from site_tools.running.block_run import evaluate, run_block, run_copy
from site_tools.running.model import PageToRun
from site_tools.running.results import Done, write

PAST = 1  # the standard output, a file here: what is written past ``sys.stdout``
PIPE = 3


def hand_over(done: Iterable[Done], pipe: int, confinement: Confinement) -> None:
    """Confine this process, run blocks in it, and write what they did.

    Args:
        done: Runs each block as it is asked for the next.
        pipe: Where the results go; every other open file is closed.
        confinement: What they must not get out of.
    """
    past = os.open("past.txt", os.O_CREAT | os.O_RDWR)
    for at in (1, 2):
        os.dup2(past, at)
    confinement.enter()
    os.dup2(pipe, PIPE)
    os.closerange(PIPE + 1, os.sysconf("SC_OPEN_MAX"))
    for result in done:
        write(PIPE, result)


def alone(page: PageToRun, number: int) -> Iterator[Done]:
    """What is copied from a block, run in a fresh namespace."""
    source = page.sources[number]
    copied = source.text if source.copied is None else source.copied
    yield run_copy(copied, number, fresh(page.seed), PAST)


def together(page: PageToRun) -> Iterator[Done]:
    """Each block after those above, None if it only runs alone; each expression."""
    names = fresh(
        page.seed + len(LANGUAGES)
    )  # no seed of a run alone, in either language
    for number, source in enumerate(page.sources):
        result = None
        if not source.apart and (source.continues or not source.raises):
            # One that raises leaves no name behind.
            found = dict(names) if source.raises else names
            result = run_block(source, number, found, PAST, page.once)
        yield result
    for expression in page.expressions:
        yield evaluate(expression, names)


def fresh(seed: int) -> dict[str, Any]:
    """An empty namespace, the generators of random numbers at their start."""
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    return {"__name__": "__main__"}


def stages(page: PageToRun) -> Sequence[tuple[Iterator[Done], int]]:
    """What runs in a process each, in order, and how many results it has."""
    count = len(page.sources)
    apart = [] if page.once else [(alone(page, n), 1) for n in range(count)]
    return [*apart, (together(page), count + len(page.expressions))]
