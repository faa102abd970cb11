"""``torchrun -m ppo_ref train``: killed, stopped, resumed, refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ppo_ref.command import checkpoint
from tests.command.runs import SMALL, assert_same, train
from tests.layout import ROOT

pytestmark = pytest.mark.slow
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
LONG = [*SMALL, "--iterations", "8"]
LEFT = "A process of the run has ended, and so the others do; go on by: torchrun"


def started(*module) -> subprocess.Popen[str]:
    """As ``torchrun --nproc-per-node=2 -m``, in the repository."""
    return subprocess.Popen(
        [*TORCHRUN, "--nproc-per-node=2", "-m", *map(str, module)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit code, and what it and its processes said; a hang is ended."""
    try:
        out, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    return process.returncode, out, errors


def children(process: subprocess.Popen[str]) -> dict[int, int]:
    """The pids of the processes of a group by rank."""
    told = ["ps", "-o", "pid=", "--ppid", str(process.pid)]
    done = subprocess.run(told, capture_output=True, text=True, check=True)
    found = {}
    for pid in map(int, done.stdout.split()):
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        ranks = [x for x in environment if x.startswith(b"RANK=")]
        found |= {int(rank[len(b"RANK=") :]): pid for rank in ranks}
    return found


def begun(*arguments) -> subprocess.Popen[str]:
    return started("ppo_ref", "train", *arguments)


def whole_run(path: Path, parallel: str) -> Path:
    code, out, errors = ended(begun(*LONG, "--parallel", parallel, "--out", path))
    assert code == 0, errors
    assert out.count(f"{path}: 8 iterations") == 1
    assert errors.count("The run is written into") == 1
    assert errors.count("PPO          [##########] 8/8") == 1
    return path


def midway(path: Path, process: subprocess.Popen[str], lines: int = 2) -> None:
    """Wait until the run has begun, and so many iterations have been written."""
    log, config = path / "statistics.jsonl", path / "config.json"
    while not config.exists() or lines > _lines(log):
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def test_one_is_killed_then_resumed(tmp_path):
    """The same processes again: the same bits. Another number: a whole run."""
    path, whole = tmp_path / "run", whole_run(tmp_path / "whole", "fsdp2")
    process = begun(*LONG, "--parallel", "fsdp2", "--out", path)
    midway(path, process, lines=0)
    victim = children(process)[0]
    midway(path, process, lines=2)
    os.kill(victim, signal.SIGKILL)
    code, _, errors = ended(process)
    assert code == 1
    again = " --nproc-per-node=2 -m ppo_ref train --parallel fsdp2 --resume"
    assert errors.count(LEFT) == 1 and f"{LEFT}{again} {path}\n" in errors
    alone = shutil.copytree(path, tmp_path / "alone")
    code, _, errors = ended(begun("--resume", path, "--parallel", "fsdp2"))
    assert code == 0, errors
    assert_same(path, whole)
    at = checkpoint.load(alone).state["iteration"]
    assert 0 < at < 8
    assert train("--resume", alone) == 0
    ours, theirs = (
        (folder / "statistics.jsonl").read_text().splitlines()
        for folder in (alone, whole)
    )
    assert ours[:at] == theirs[:at] and len(ours) == 8 and ours[at:] != theirs[at:]
    assert json.loads((alone / "summary.json").read_text())["finished"]


def test_ctrl_c_stops_all_after_the_same_step(tmp_path):
    path = tmp_path / "run"
    process = begun(*SMALL, "--iterations", "5000", "--out", path)
    midway(path, process)
    process.send_signal(signal.SIGINT)
    _, out, errors = ended(process)
    assert errors.count("Stopping after this step") == 1
    assert out.count("Stopped; go on by: torchrun --nproc-per-node=2 -m ppo_ref") == 1
    lines = (path / "statistics.jsonl").read_bytes().count(b"\n")
    assert checkpoint.load(path).state["iteration"] == lines
    assert not json.loads((path / "summary.json").read_text())["finished"]


def test_a_refusal_is_said_once(tmp_path):
    path, sizes = tmp_path / "run", ["--mini-batch-size", 1, "--micro-batch-size", 1]
    code, out, errors = ended(begun(*SMALL, *sizes, "--out", path))
    told = "Trainer: mini_batch_size must be a multiple of the 2 processes, got 1"
    assert code == 1 and not out and not path.exists()
    assert errors.count("python -m ppo_ref train: ") == 1 and errors.count(told) == 1
    assert LEFT not in errors and "exitcode  : 2" in errors
