"""SIGKILL at any moment, then resume: the same weights and the same files."""

from pathlib import Path

import pytest

from ppo_ref.command import checkpoint
from tests.command.endings import LAST_EVENT, MOMENTS, Dead, job, killed
from tests.command.runs import SMALL, assert_same, files, train


def go_on(path: Path) -> None:
    """Resume, or begin where the kill came before there was a run."""
    if (path / "config.json").exists():
        assert train("--resume", path) == 0
    else:
        assert train(*SMALL, "--out", path) == 0


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


@pytest.mark.slow
def test_killed_at_many_moments(whole: Path, tmp_path: Path):
    paths = {tmp_path / str(at): at for at in range(3, LAST_EVENT, 4)}
    killed(*(job(path, at) for path, at in paths.items()))
    for path in paths:
        go_on(path)
        assert_same(path, whole)
