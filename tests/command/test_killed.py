"""Killed at any moment, or out of disk; then resumed: the same weights and files."""

import resource
import signal
from pathlib import Path

import pytest

from ppo_ref.command import checkpoint
from ppo_ref.command.checkpoint import BEFORE, LAST
from ppo_ref.command.run_folder import add_line, reopen_run
from tests.command.runs import SMALL, TO_GO_ON, assert_same, ended, files, train

LAST_EVENT = 62  # the small run is over soon after
LOGS = "seconds.jsonl", "statistics.jsonl", "tokens.jsonl"
# Before which event of the small run the kill comes, and what is then on the disk.
MOMENTS = {
    "no folder": (1, []),
    "a config without its name": (4, [".config.json.new"]),
    "no checkpoint": (5, ["config.json"]),
    "PPO, no line": (17, [BEFORE, LAST, "config.json"]),
    "PPO, half of a record": (33, [BEFORE, LAST, "config.json", *LOGS]),
    "no summary": (59, [BEFORE, LAST, "config.json", *LOGS]),
}


def kill(path: Path, at: int, *arguments: object) -> None:
    """A run that is killed before that event; of the small run unless told."""
    end = ended(*(arguments or (*SMALL, "--out", path)), folder=path, at=at)
    assert end.code == -signal.SIGKILL, end.stderr


def go_on(path: Path) -> None:
    """Resume, or begin where the kill came before there was a run."""
    if (path / "config.json").exists():
        assert train("--resume", path) == 0
    else:
        assert train(*SMALL, "--out", path) == 0


@pytest.mark.parametrize("what", MOMENTS)
def test_killed_at_this_moment(whole, tmp_path, what):
    path, (at, written) = tmp_path / "run", MOMENTS[what]
    kill(path, at)
    assert sorted(file.name for file in path.glob("*")) == written
    go_on(path)
    assert_same(path, whole)
    assert files(path).keys() == files(whole).keys()


def test_half_a_line_and_half_a_checkpoint_are_taken_away(whole, tmp_path):
    path = tmp_path / "run"
    kill(path, 41)
    lines = (path / "statistics.jsonl").read_bytes()
    assert lines.count(b"\n") == 2 > checkpoint.load(path).state["iteration"]
    (path / "statistics.jsonl").write_bytes(lines[:-9])
    (path / ".checkpoint.pt.new").write_bytes(b"ppo_ref check")
    go_on(path)
    assert_same(path, whole)
    assert not list(path.glob(".*"))


def test_killed_again_and_again(whole, tmp_path):
    path = tmp_path / "run"
    kill(path, 30)
    for at in (9, 14, 12):
        kill(path, at, "--resume", path)
    go_on(path)
    assert_same(path, whole)


@pytest.mark.slow
def test_killed_at_many_moments(whole, tmp_path):
    for at in range(3, LAST_EVENT, 4):
        path = tmp_path / str(at)
        kill(path, at)
        go_on(path)
        assert_same(path, whole)


@pytest.mark.parametrize(("room", "file"), [(-1, "config.json"), (100, LAST)])
def test_a_disk_too_small_for_a_checkpoint_is_left_empty(whole, tmp_path, room, file):
    path, limit = tmp_path / "run", (whole / "config.json").stat().st_size + room
    code, told = ended(*SMALL, "--out", path, folder=path, limit=limit)
    assert code == 2 and not path.exists()
    assert f"train: {path / file}: File too large\n" in told
    assert "Traceback" not in told


def test_a_disk_that_fills_up_keeps_the_last_checkpoint(whole, tmp_path):
    path, limit = tmp_path / "run", (whole / LAST).stat().st_size - 100
    code, told = ended(*SMALL, "--out", path, folder=path, limit=limit)
    assert code == 2 and "Traceback" not in told
    sentence = f"File too large; then go on by: {TO_GO_ON} {path}\n"
    assert told.endswith(f"train: {path / LAST}: {sentence}")
    assert not list(path.glob(".*"))
    assert train("--resume", path) == 0
    assert_same(path, whole)


def test_a_line_is_added_whole_or_not_at_all(tmp_path):
    log = tmp_path / "log"
    add_line(log, {"a": 1})
    before = log.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 3, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as refusal:
            add_line(log, {"b": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert refusal.value.filename == str(log)
    assert log.read_bytes() == before


def test_one_process_writes_at_a_time(whole, capsys):
    with reopen_run(whole):
        assert train("--resume", whole) == 2
    assert f"{whole} is being written by another process" in capsys.readouterr().err


def test_what_is_there_is_left_alone(whole, tmp_path, capsys):
    before = files(whole)
    (tmp_path / "thesis.tex").write_text("mine")
    for path, told in {
        tmp_path / "thesis.tex": "File exists",
        tmp_path / "thesis.tex/run": "Not a directory",
        tmp_path: "must be new or empty, but holds thesis.tex",
        whole: f"holds a run already; go on with it by --resume {whole}",
    }.items():
        assert train(*SMALL, "--out", path) == 2
        assert told in capsys.readouterr().err
    assert files(whole) == before and files(tmp_path) == {"thesis.tex": b"mine"}
