"""A run of seconds, and what must be the same of two of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ppo_ref.command import checkpoint
from ppo_ref.command.main import main

SMALL = [
    *("--width", "8", "--heads", "2", "--layers", "1", "--warm-start-batch-size", "8"),
    *("--warm-start-steps", "3", "--wrong-score", "-1", "--iterations", "3"),
    *("--batch-size", "8", "--mini-batch-size", "4", "--micro-batch-size", "4"),
    *("--evaluate-every", "2", "--record-every", "2", "--record-rows", "2"),
    *("--checkpoint-seconds", "0", "--device", "cpu"),
]
# What the same run writes again, byte for byte.
SAME = "config.json", "statistics.jsonl", "tokens.jsonl"


def train(*arguments: Any) -> int:
    """The exit code of the command, in this process."""
    try:
        return main(["train", *map(str, arguments)])
    except SystemExit as end:
        return end.code


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
