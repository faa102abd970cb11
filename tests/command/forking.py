"""Runs of the command in processes of their own, ended from inside at a chosen moment.

The moment is the nth time that the run opens, renames or cuts a file of its folder, so
it is the same on every machine. Started once, this forks a process for each job.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

EVENTS = {"open", "os.rename", "os.truncate", "os.mkdir", "os.remove"}


@dataclass
class Job:
    """What is run, before which event it gets a signal, how large its files may be."""

    arguments: list[str]
    folder: str
    at: int = 0
    signal: int = signal.SIGKILL
    limit: int = 0


class Ended(NamedTuple):
    """The exit code, negative for a signal, and what was said of errors."""

    code: int
    stderr: str


def ended(jobs: list[Job]) -> list[Ended]:
    """How each of these ends, one after the other."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.command.forking"],
        input=json.dumps([asdict(job) for job in jobs]),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [Ended(*pair) for pair in json.loads(done.stdout)]


def _run(job: Job, errors: int) -> None:
    os.dup2(errors, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    seen = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event in EVENTS and str(arguments[0]).startswith(job.folder):
            seen += 1
            if seen == job.at:
                os.kill(os.getpid(), job.signal)

    if job.at:
        sys.addaudithook(hook)
    if job.limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job.limit, job.limit))
    code = 1
    try:
        code = main(job.arguments)
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(code)


def _ended(job: Job) -> tuple[int, str]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _run(job, writing)
    os.close(writing)
    with open(reading) as errors:
        told = errors.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), told


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    from ppo_ref.command.main import main
    from tests.command.runs import SMALL, train

    # What torch imports late is imported once, not by every child.
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        train(*SMALL, "--out", f"{folder}/run")
    print(json.dumps([_ended(Job(**job)) for job in json.load(sys.stdin)]))
