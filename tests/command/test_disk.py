"""A full disk, a folder that cannot be written: a sentence, nothing half-written."""

import os
import resource
from pathlib import Path

import pytest

from ppo_ref.command.checkpoint import LAST, store
from ppo_ref.command.run_folder import add_line, reopen_run
from tests.command.endings import Dead
from tests.command.runs import SMALL, assert_same, files, train


@pytest.mark.parametrize(
    ("limit", "file"), [("config", "config.json"), ("first", LAST)]
)
def test_a_disk_too_small_for_a_checkpoint_is_left_empty(dead: Dead, limit, file):
    path, (code, told) = dead.root / limit, dead.full[limit]
    assert code == 2 and not path.exists()
    assert f"train: {path / file}: File too large\n" in told
    assert "Traceback" not in told


def test_a_disk_that_fills_up_keeps_the_last_checkpoint(whole: Path, dead: Dead):
    path, (code, told) = dead.root / "last", dead.full["last"]
    assert code == 2 and "Traceback" not in told
    sentence = f"File too large; then go on by --resume {path}\n"
    assert told.endswith(f"train: {path / LAST}: {sentence}")
    assert not list(path.glob(".*"))
    assert train("--resume", path) == 0
    assert_same(path, whole)


def test_a_line_is_added_whole_or_not_at_all(tmp_path: Path):
    log = tmp_path / "log"
    add_line(log, {"a": 1})
    before = log.read_bytes()
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 3, kept[1]))
    try:
        with pytest.raises(OSError, match="File too large") as refusal:
            add_line(log, {"b": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
    assert refusal.value.filename == str(log)
    assert log.read_bytes() == before


def test_what_is_stored_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done, fsync, replace = [], os.fsync, os.replace

    def noted(name, call):
        return lambda *given: (done.append(name), call(*given))

    monkeypatch.setattr(os, "fsync", noted("fsync", fsync))
    monkeypatch.setattr(os, "replace", noted("replace", replace))
    store(tmp_path / "a", b"1")
    assert done == ["fsync", "replace", "fsync"]


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys):
    file = tmp_path / "file"
    file.write_text("mine")
    assert train(*SMALL, "--out", file / "run") == 2
    told = capsys.readouterr().err
    assert told == f"python -m ppo_ref train: {file / 'run'}: Not a directory\n"
    assert train(*SMALL, "--out", file) == 2
    assert files(tmp_path) == {"file": b"mine"}


def test_one_process_writes_at_a_time(whole: Path, capsys):
    with reopen_run(whole):
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
