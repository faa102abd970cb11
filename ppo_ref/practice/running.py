"""Run a solution in a watched process, and take what came back as data alone."""

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ppo_ref.practice import child
from ppo_ref.practice.hole import Hole

SECONDS = 60  # a solution may take, loading torch included
LATE, DIED = "late", "died"  # why there is no result
KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")


class Answer(NamedTuple):
    """The values of a function for a batch, and a gradient if one is asked for."""

    values: tuple[Tensor, ...] = ()
    gradient: Tensor | None = None


class Outcome(NamedTuple):
    """An answer to one batch, or what kept the function from it.

    Attributes:
        failed: The exception that was raised, in a line; "" if none was.
        kind: What came instead of tensors; "" if tensors came.
        changed: The arguments that are no longer what they were.
        answer: The tensors that came back, empty where none did.
    """

    failed: str = ""
    kind: str = ""
    changed: tuple[str, ...] = ()
    answer: Answer = Answer()


class Ran(NamedTuple):
    """A solution on all batches.

    Attributes:
        failed: Why it could not be run at all; "" if it could.
        outcomes: One for each batch.
        seconds: For the large batch; None if it did not get there in time.
    """

    failed: str = ""
    outcomes: tuple[Outcome, ...] = ()
    seconds: float | None = None


def run(solution: Path, hole: Hole, cases: list[Any], seconds: float = SECONDS) -> Ran:
    """Run a solution on these batches and on the large one, in a process of its own.

    It has a folder of its own, no standard streams, and so many seconds; then it is
    ended with all that it has started.
    """
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        batches = [case._asdict() for case in [*cases, hole.large()]]
        torch.save((batches, hole.gradient), there / "batches.pt")
        in_time = _watch(solution.resolve(), hole.name, there, seconds)
        results = _loaded(there / "results.pt", dict)
        if results is None:
            return Ran(DIED if in_time else LATE)
        if "failed" in results:
            return Ran(str(results["failed"]))
        try:
            outcomes = tuple(outcome_of(result) for result in results["results"])
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
            return Ran(DIED)
        if len(outcomes) != len(cases):
            return Ran(DIED)
        return Ran("", outcomes, _loaded(there / "seconds.pt", float))


def seconds_of(function: Callable[[Any], object], case: Any) -> float:
    """The least time of three runs."""
    times = []
    for _ in range(child.TRIES):
        begin = time.perf_counter()
        function(case)
        times.append(time.perf_counter() - begin)
    return min(times)


def _watch(solution: Path, function: str, folder: Path, seconds: float) -> bool:
    """Wait for the process; False if it had to be ended."""
    command = [sys.executable, "-I", child.__file__, str(solution), function]
    with subprocess.Popen(
        [*command, str(folder)],
        cwd=folder,
        env={name: os.environ[name] for name in KEPT if name in os.environ}
        | {"CUDA_VISIBLE_DEVICES": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            _end(process.pid)
    return True


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # all of it has ended


def _loaded(path: Path, kind: type) -> Any:
    """Read what the process has written, if it is of this kind, else None."""
    try:
        content = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError):
        return None
    return content if isinstance(content, kind) else None


def outcome_of(result: dict[str, Any]) -> Outcome:
    """An outcome as the process wrote it, whose tensors may be of any kind."""
    gradient = result.get("gradient")
    return Outcome(
        failed=str(result.get("failed", "")),
        kind=str(result.get("kind", "")),
        changed=tuple(str(name) for name in result.get("changed", ())),
        answer=Answer(
            tuple(value.double() for value in result.get("values", ())),
            None if gradient is None else gradient.double(),
        ),
    )
