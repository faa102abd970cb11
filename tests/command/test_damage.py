"""What cannot be believed is refused with the reason, and nothing is overwritten."""

import io
import json
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch

from ppo_ref.command.checkpoint import BEFORE, LAST
from tests.command.runs import SMALL, assert_same, files, train


class Code:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def flipped(content: bytes) -> bytes:
    """One bit of the largest tensor, which lies behind its own header."""
    with ZipFile(io.BytesIO(content)) as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size)
    at = largest.header_offset + 256
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def saved(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a bit": (flipped, "is damaged or cut off"),
    "an end": (lambda old: old[:-9], "is damaged or cut off"),
    "pickle": (lambda old: pickle.dumps([1]), "is no checkpoint of ppo_ref"),
    "other": (lambda old: saved([1]), "holds something else than numbers"),
    "format": (
        lambda old: saved({**torch.load(io.BytesIO(old)), "format": 1}),
        "must be of format 2, got format 1",
    ),
}


@pytest.fixture
def run(whole, tmp_path) -> Path:
    return shutil.copytree(whole, tmp_path / "run")


def refused(run: Path, capsys: pytest.CaptureFixture[str], reason: str) -> str:
    """Refused in one sentence, with every file as it was."""
    held = files(run)
    assert train("--resume", run) == 2
    told = capsys.readouterr().err
    assert re.search(reason, told) and told.count("\n") == 1, told
    assert files(run) == held
    return told


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_told_and_the_one_before_is_named(run, capsys, kind):
    damage, reason = DAMAGE[kind]
    (run / LAST).write_bytes(damage((run / LAST).read_bytes()))
    told = refused(run, capsys, reason)
    assert str(run / LAST) in told
    assert f"move it away, and the run goes on from {run / BEFORE}" in told


def test_once_it_is_moved_away_the_run_goes_on_from_the_one_before(whole, run):
    (run / LAST).rename(run / "damaged")
    assert train("--resume", run) == 0
    assert_same(run, whole)


def test_if_both_are_damaged_the_remedy_is_to_begin_anew(whole, run, capsys):
    for name in (LAST, BEFORE):
        (run / name).write_bytes(b"?")
    told = refused(run, capsys, "is no checkpoint")
    assert f"{run / BEFORE} is no better" in told and "begins anew" in told
    for name in (LAST, BEFORE):
        (run / name).unlink()
    assert train("--resume", run) == 0
    assert_same(run, whole)


def test_code_is_not_run(run, tmp_path, capsys):
    made = tmp_path / "made"
    pickle.loads(pickle.dumps(Code(made)))
    assert made.exists()
    made.unlink()
    held = torch.load(run / LAST) | {"state": {"iteration": Code(made)}}
    torch.save(held, run / LAST)
    refused(run, capsys, "holds something else than numbers, and was not loaded")
    (run / LAST).write_bytes(pickle.dumps(Code(made)))
    refused(run, capsys, "is no checkpoint of ppo_ref")
    assert not made.exists()


def test_a_checkpoint_of_another_run_is_refused(run, tmp_path, capsys):
    other = tmp_path / "other"
    assert train(*SMALL, "--width", 4, "--out", other) == 0
    capsys.readouterr()
    shutil.copy(other / LAST, run / LAST)
    refused(run, capsys, r"settings of config\.json, width 8, got 4")


def test_a_changed_log_is_refused(run, capsys):
    log = run / "statistics.jsonl"
    log.write_bytes(log.read_bytes().replace(b"score", b"scare", 1))
    refused(run, capsys, r"statistics\.jsonl must begin with the \d+ bytes")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda held: held.update(format=1), "format must be 2, got 1"),
        (lambda held: held["settings"].update(witdh=8), "it differs in witdh"),
        (lambda held: held["settings"].update(estimate="gae"), "'gae'"),
    ],
)
def test_a_damaged_config_is_refused(run, capsys, change, reason):
    held = json.loads((run / "config.json").read_text())
    change(held)
    (run / "config.json").write_text(json.dumps(held))
    refused(
        run, capsys, rf"config\.json is damaged, or not of this ppo_ref: .*{reason}"
    )
