"""A run of seconds, how it is ended from inside, what must be the same of two."""

import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ppo_ref.command import checkpoint
from ppo_ref.command.main import main

SMALL = [
    *("--width", "8", "--heads", "2", "--layers", "1", "--warm-start-batch-size", "8"),
    *("--warm-start-steps", "3", "--wrong-score", "-1", "--iterations", "3"),
    *("--batch-size", "8", "--mini-batch-size", "4", "--micro-batch-size", "4"),
    *("--evaluate-every", "2", "--record-every", "2", "--record-rows", "2"),
    *("--checkpoint-seconds", "0", "--checkpoint-share", "inf", "--device", "cpu"),
]
TO_GO_ON = "python -m ppo_ref train --resume"
EVENTS = {"open", "os.rename", "os.truncate", "os.mkdir", "os.remove"}
# What the same run writes again, byte for byte.
SAME = "config.json", "statistics.jsonl", "tokens.jsonl"


def train(*arguments) -> int:
    """The exit code of the command, in this process."""
    try:
        return main(["train", *map(str, arguments)])
    except SystemExit as end:
        return end.code


class Ended(NamedTuple):
    """The exit code of a process, negative for a signal, and its standard error."""

    code: int
    stderr: str


def ended(*arguments: Any, folder: Path, at: int = 0, limit: int = 0) -> Ended:
    """How the command ends in a fork of this process.

    It is killed just before the nth time that it opens, renames or cuts a file of the
    folder, which is the same moment on every machine; ``limit`` is the greatest size of
    a file, in bytes.
    """

    def run() -> None:
        os.close(reading)
        seen = 0

        def watch(event: str, given: tuple[Any, ...]) -> None:
            nonlocal seen
            if event in EVENTS and str(given[0]).startswith(str(folder)):
                seen += 1
                if seen == at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        sys.stderr = open(writing, "w", buffering=1)  # noqa: SIM115
        sys.exit(train(*arguments))

    reading, writing = os.pipe()
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    os.close(writing)
    with open(reading) as errors:
        stderr = errors.read()
    process.join()
    return Ended(process.exitcode, stderr)


def files(folder: Path) -> dict[str, bytes]:
    """All that a folder holds."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def assert_same(run: Path, other: Path, names: Sequence[str] = SAME) -> None:
    """The same weights bit for bit, and the same files byte for byte."""
    for name in names:
        assert (run / name).read_bytes() == (other / name).read_bytes(), name
    states = [checkpoint.load(folder).state for folder in (run, other)]
    assert_equal(*states, "state")


def assert_equal(ours: Any, theirs: Any, where: str) -> None:
    assert type(ours) is type(theirs), where
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), where
        for name in ours:
            assert_equal(ours[name], theirs[name], f"{where}.{name}")
    elif isinstance(ours, torch.Tensor):
        assert ours.dtype == theirs.dtype and torch.equal(ours, theirs), where
    else:
        assert ours == theirs, where
