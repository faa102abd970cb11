"""SIGKILL at any moment, then resume: the same weights and the same files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from ppo_ref.command import checkpoint
from ppo_ref.command.checkpoint import BEFORE, LAST
from tests.command.forking import Job, ended
from tests.command.runs import SMALL, assert_same, files, train

LAST_EVENT = 66  # the small run is over soon after
LOGS = "seconds.jsonl", "statistics.jsonl", "tokens.jsonl"
REWARD = "--reward-model-steps", "3"

# Before which event of the small run the kill comes, and what is then on the disk.
MOMENTS = {
    "no folder": (1, []),
    "no config": (2, []),
    "a config without its name": (4, [".config.json.new"]),
    "no checkpoint": (5, ["config.json"]),
    "imitation, between two names": (10, [BEFORE, "config.json"]),
    "PPO, no line": (17, [BEFORE, LAST, "config.json"]),
    "PPO, half of a record": (33, [BEFORE, LAST, "config.json", *LOGS]),
    "PPO, a line too many": (41, [BEFORE, LAST, "config.json", *LOGS]),
    "no summary": (63, ["charts.svg", BEFORE, LAST, "config.json", *LOGS]),
}


def killed(*jobs: Job) -> None:
    codes = [end.code for end in ended(list(jobs))]
    assert codes == [-signal.SIGKILL] * len(codes)


def job(path: Path, at: int, *more: str) -> Job:
    """A run that is killed just before that event."""
    return Job(["train", *SMALL, *more, "--out", str(path)], str(path), at)


def go_on(path: Path, *more: str) -> None:
    """Resume, or begin where the kill came before there was a run."""
    if (path / "config.json").exists():
        assert train("--resume", path) == 0
    else:
        assert train(*SMALL, *more, "--out", path) == 0


class Dead(NamedTuple):
    """Where killed runs lie, and what each had written by then."""

    root: Path
    written: dict[str, list[str]]


@pytest.fixture(scope="module")
def dead(tmp_path_factory: pytest.TempPathFactory) -> Dead:
    root = tmp_path_factory.mktemp("dead")
    again = ["train", "--resume", str(root / "again")]
    killed(
        *(job(root / what, at) for what, (at, _) in MOMENTS.items()),
        job(root / "half", 41),
        job(root / "again", 30),
        *(Job(again, str(root / "again"), at) for at in (9, 14, 12)),
        job(root / "reward", 25, *REWARD),
    )
    written = {
        what: sorted(path.name for path in (root / what).glob("*")) for what in MOMENTS
    }
    return Dead(root, written)


@pytest.mark.parametrize("what", MOMENTS)
def test_killed_at_this_moment(whole: Path, dead: Dead, what: str):
    assert dead.written[what] == MOMENTS[what][1]
    go_on(dead.root / what)
    assert_same(dead.root / what, whole)
    assert files(dead.root / what).keys() == files(whole).keys()


def test_half_a_line_and_half_a_checkpoint_are_taken_away(whole: Path, dead: Dead):
    path = dead.root / "half"
    lines = (path / "statistics.jsonl").read_bytes()
    assert lines.count(b"\n") == 2 > checkpoint.load(path).state["iteration"]
    (path / "statistics.jsonl").write_bytes(lines[:-9])
    (path / ".checkpoint.pt.new").write_bytes(b"ppo_ref check")
    go_on(path)
    assert_same(path, whole)
    assert not list(path.glob(".*"))


def test_killed_again_and_again(whole: Path, dead: Dead):
    go_on(dead.root / "again")
    assert_same(dead.root / "again", whole)


def test_killed_while_a_reward_model_learns(dead: Dead, tmp_path: Path):
    assert train(*SMALL, *REWARD, "--out", tmp_path / "whole") == 0
    assert checkpoint.load(dead.root / "reward").state["rewarded"] in (1, 2)
    go_on(dead.root / "reward")
    assert_same(dead.root / "reward", tmp_path / "whole")


@pytest.mark.slow
def test_killed_at_every_moment(whole: Path, tmp_path: Path):
    paths = {tmp_path / str(at): at for at in range(1, LAST_EVENT)}
    killed(*(job(path, at) for path, at in paths.items()))
    for path in paths:
        go_on(path)
        assert_same(path, whole)


@pytest.mark.slow
def test_killed_from_outside(whole: Path, tmp_path: Path):
    path = tmp_path / "run"
    command = [sys.executable, "-m", "ppo_ref", "train", *SMALL, "--out", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while not (path / "statistics.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    go_on(path)
    assert_same(path, whole)
