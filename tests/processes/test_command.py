"""``torchrun -m ppo_ref train``: killed, stopped, resumed, refused."""

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppo_ref.command import checkpoint, settings
from ppo_ref.command.main import Parser
from ppo_ref.command.run_folder import create_run
from ppo_ref.command.session import Session
from tests.command.runs import SMALL, assert_same, train
from tests.processes.starting import children, ended, started

pytestmark = pytest.mark.slow
LONG = [*SMALL, "--iterations", "8"]
LEFT = "A process of the run has ended, and so the others do; go on by: torchrun"


def begun(*arguments: Any) -> subprocess.Popen[str]:
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


def test_one_is_killed_then_resumed(tmp_path: Path):
    """The same processes again: the same bits. Another number: a whole run."""
    path, whole = tmp_path / "run", whole_run(tmp_path / "whole", "fsdp2")
    process = begun(*LONG, "--parallel", "fsdp2", "--out", path)
    midway(path, process, lines=0)
    victim = children(process)[0]
    midway(path, process, lines=2)
    victim.send_signal(signal.SIGKILL)
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


def test_what_one_process_began_two_go_on_with(tmp_path: Path):
    path, parser = tmp_path / "run", Parser()
    settings.add_options(parser)
    chosen = settings.make_settings(vars(parser.parse_args(LONG)))
    with create_run(path, chosen) as folder:
        session = Session(folder)
        steps = session.steps()
        while session.trainer.iteration < 2:
            next(steps)
        session.save()
    before = (path / "statistics.jsonl").read_text()
    code, _, errors = ended(begun("--resume", path, "--parallel", "fsdp2"))
    assert code == 0, errors
    after = (path / "statistics.jsonl").read_text()
    assert after.startswith(before) and after.count("\n") == 8


def test_ctrl_c_stops_all_after_the_same_step(tmp_path: Path):
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


def holding(path: Path) -> None:
    path.mkdir()
    (path / "mine").touch()


@pytest.mark.parametrize(
    ("prepare", "arguments", "told"),
    [
        (
            None,
            ["--mini-batch-size", "1", "--micro-batch-size", "1"],
            "Trainer: mini_batch_size must be a multiple of the 2 processes, got 1",
        ),
        (holding, [], "must be new or empty, but holds mine"),
    ],
)
def test_a_refusal_is_said_once(
    tmp_path: Path, prepare: Callable[[Path], None] | None, arguments, told: str
):
    path = tmp_path / "run"
    if prepare:
        prepare(path)
    code, out, errors = ended(begun(*SMALL, *arguments, "--out", path))
    assert code == 1 and not out
    assert errors.count("python -m ppo_ref train: ") == 1 and errors.count(told) == 1
    assert LEFT not in errors and "exitcode  : 2" in errors
    assert path.exists() == bool(prepare)


def test_what_one_process_finds_alone_is_said_once(tmp_path: Path):
    """The other is told to end, but not why; the user hears the reason."""
    path = tmp_path / "run"
    process = started("tests.processes.failing", "train", *LONG, "--out", path)
    code, _, errors = ended(process)
    assert code == 1
    assert errors.count("python -m ppo_ref train: only the second finds this") == 1
    assert LEFT not in errors
    assert checkpoint.load(path).state["iteration"] == 2
