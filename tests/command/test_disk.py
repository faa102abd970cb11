"""A full disk, a folder that cannot be written: a sentence, nothing half-written."""

import errno
import os
import resource
from pathlib import Path

import pytest

from ppo_ref.command import checkpoint, storing
from ppo_ref.command.run_folder import reopened
from tests.command.forking import Job, ended
from tests.command.runs import SMALL, assert_same, files, train


def test_a_disk_that_fills_up(whole: Path, tmp_path: Path):
    """What it would hold at first, and what only the first checkpoints fit into."""
    config = len((whole / "config.json").read_bytes())
    last = len((whole / checkpoint.LAST).read_bytes())
    none, some, more = (tmp_path / name for name in ("none", "some", "more"))
    small, middling, large = ended(
        [
            Job(["train", *SMALL, "--out", str(path)], str(path), limit=limit)
            for path, limit in (
                *((none, config - 1), (some, config + 100)),
                (more, last - 100),
            )
        ]
    )
    for end in (small, middling, large):
        assert end.code == 2
        assert "Traceback" not in end.stderr
    assert f"{none / 'config.json'}: File too large" in small.stderr
    assert f"{some / checkpoint.LAST}: File too large" in middling.stderr
    assert not none.exists() and not some.exists()
    assert f"{more / checkpoint.LAST}: File too large" in large.stderr
    assert f"go on by --resume {more}" in large.stderr
    assert not list(more.glob(".*"))
    assert train("--resume", more) == 0
    assert_same(more, whole)


def test_a_line_is_added_whole_or_not_at_all(tmp_path: Path):
    log = tmp_path / "log"
    storing.add_line(log, {"a": 1})
    before = log.read_bytes()
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 3, kept[1]))
    try:
        with pytest.raises(OSError, match="File too large") as refusal:
            storing.add_line(log, {"b": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
    assert refusal.value.filename == str(log)
    assert log.read_bytes() == before


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "a"
    storing.store(target, b"old")

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as refusal:
        storing.store(target, b"new")
    assert refusal.value.filename == str(target)
    assert files(tmp_path) == {"a": b"old"}


def test_what_is_stored_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done, fsync, replace = [], os.fsync, os.replace

    def noted(name, call):
        return lambda *given: (done.append(name), call(*given))

    monkeypatch.setattr(os, "fsync", noted("fsync", fsync))
    monkeypatch.setattr(os, "replace", noted("replace", replace))
    storing.store(tmp_path / "a", b"1")
    assert done == ["fsync", "replace", "fsync"]


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys):
    file = tmp_path / "file"
    file.write_text("mine")
    assert train(*SMALL, "--out", file / "run") == 2
    told = capsys.readouterr().err
    assert told == f"python -m ppo_ref train: {file / 'run'}: Not a directory\n"
    assert train(*SMALL, "--out", file) == 2
    assert files(tmp_path) == {"file": b"mine"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_ours(tmp_path: Path, capsys):
    tmp_path.chmod(0o500)
    assert train(*SMALL, "--out", tmp_path / "run") == 2
    assert "Permission denied" in capsys.readouterr().err


def test_one_process_writes_at_a_time(whole: Path, capsys):
    with reopened(whole):
        assert train("--resume", whole) == 2
    assert f"{whole} is being written by another process" in capsys.readouterr().err
    assert train("--resume", whole) == 0


def test_a_folder_that_holds_something_is_left_alone(whole, tmp_path, capsys):
    held = files(whole)
    assert train(*SMALL, "--out", whole) == 2
    assert f"holds a run already; go on with it by --resume {whole}" in (
        capsys.readouterr().err
    )
    (tmp_path / "thesis.tex").write_text("mine")
    assert train(*SMALL, "--out", tmp_path) == 2
    assert "must be new or empty, but holds thesis.tex" in capsys.readouterr().err
    assert files(whole) == held and files(tmp_path) == {"thesis.tex": b"mine"}
