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


def changed(run: Path, change: Callable[[dict], object]) -> None:
    """The last checkpoint, sound, with something else in it."""
    held = torch.load(run / LAST)
    change(held)
    torch.save(held, run / LAST)


def one(name: str, value: object) -> Callable[[dict], None]:
    """Puts a value at a path of names, with slashes between them."""
    *way, last = (int(step) if step.isdigit() else step for step in name.split("/"))

    def change(held: dict) -> None:
        for step in way:
            held = held[step]
        held[last] = value

    return change


WEIGHT = "transformer.tokens.weight"
SENSELESS: dict[str, tuple[Callable[[dict], object], str]] = {
    "empty notes": (one("notes", {}), "notes must hold logs"),
    "notes are a list": (one("notes", []), "notes must be a dict, got list"),
    "empty state": (one("state", {}), "state must hold imitated"),
    "state is a list": (one("state", [1]), "state must be a dict, got list"),
    "no logs": (one("notes/logs", {}), r"notes\.logs must hold statistics\.jsonl"),
    "a log has no mark": (
        one("notes/logs", dict.fromkeys(["statistics.jsonl", "tokens.jsonl"], 1)),
        r"notes\.logs must hold seconds\.jsonl",
    ),
    "marks": (
        one(
            "notes/logs",
            dict.fromkeys(["statistics.jsonl", "tokens.jsonl"], (1, 2))
            | {"seconds.jsonl": ("x", "y")},
        ),
        r"notes\.logs\.statistics\.jsonl must be a size and a hash, got \(1, 2\)",
    ),
    "seconds": (one("notes/seconds", "x"), r"notes\.seconds must be a number, got 'x'"),
    "settings": (one("notes/settings", [1]), r"notes\.settings must be a dict"),
    "held out": (
        one("notes/held_out_before", "x"),
        r"notes\.held_out_before must be a number, got 'x'",
    ),
    "iteration": (one("state/iteration", -5), "iteration must lie in 0 to 3, got -5"),
    "iteration is a text": (
        one("state/iteration", "5"),
        "iteration must lie in 0 to 3, got '5'",
    ),
    "imitated": (one("state/imitated", 99), "imitated must lie in 0 to 3, got 99"),
    "price": (one("state/kl_coef", float("nan")), "kl_coef must be finite, got nan"),
    "no weights": (one("state/actor", {}), r"state\.actor must hold transformer\."),
    "another size": (
        one(f"state/actor/{WEIGHT}", torch.ones(3)),
        rf"{re.escape(WEIGHT)} must be float32 of shape \[\d+, 8\], got float32 of",
    ),
    "no tensor": (
        one(f"state/actor/{WEIGHT}", [1]),
        rf"state\.actor\.{re.escape(WEIGHT)} must be a Tensor, got list",
    ),
    "an optimizer's average": (
        one("state/actor_optimizer/state/0/exp_avg", torch.ones(3)),
        r"optimizer\.state\.0\.exp_avg must be float32 of shape \[\d+, 8\], got f",
    ),
    "an optimizer's number": (
        one("state/actor_optimizer/param_groups/0/betas", 3),
        r"param_groups\.0\.betas must be \(0\.9, 0\.999\), got 3",
    ),
    "an optimizer's weights": (
        one("state/actor_optimizer/param_groups/0/params", [7]),
        r"param_groups\.0\.params must be \[0, 1, 2",
    ),
}


@pytest.mark.parametrize("kind", SENSELESS)
def test_a_sound_checkpoint_that_makes_no_sense_is_refused(run, capsys, kind):
    change, reason = SENSELESS[kind]
    changed(run, change)
    told = refused(run, capsys, rf"{LAST} does not fit this run: \S*{reason}")
    assert f"move it away, and the run goes on from {run / BEFORE}" in told


def test_weights_of_one_repeated_number_are_refused_unread(run, capsys):
    huge = torch.ones(1).expand(10**6, 10**6)
    changed(run, one(f"state/actor/{WEIGHT}", huge))
    refused(run, capsys, "holds something else than numbers, and was not loaded")


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
        (lambda held: held.update(format=1), "format must be 3, got 1"),
        (lambda held: held["settings"].update(witdh=8), "it differs in witdh"),
        (lambda held: held["settings"].update(estimate="gae"), "'gae'"),
        (lambda held: held["settings"].update(width=8.9), "width must be an int"),
        (lambda held: held["settings"].update(width="8"), "width must be an int"),
        (lambda held: held["settings"].update(gamma=10**400), "gamma must be"),
        (lambda held: held.update(settings=[1]), "settings must be a dict, got list"),
        (lambda held: held.update(torch=[1]), "torch must be a str, got list"),
        (lambda held: held.update(colour=3), "it differs in colour"),
        (lambda held: held.update({"\x1b[2J": 3}), r"it differs in \\x1b\[2J"),
        (lambda held: held.pop("torch"), "it differs in torch"),
    ],
)
def test_a_damaged_config_is_refused(run, capsys, change, reason):
    held = json.loads((run / "config.json").read_text())
    change(held)
    (run / "config.json").write_text(json.dumps(held))
    told = refused(
        run, capsys, rf"config\.json is damaged, or not of this ppo_ref: .*{reason}"
    )
    assert len(told) < 1000


def test_what_a_config_says_reaches_no_terminal_raw(run, capsys):
    held = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(held | {"torch": "2\x1b[2J"}))
    assert train("--resume", run) == 0
    told = capsys.readouterr().err
    assert r"It was begun with torch 2\x1b[2J" in told and "\x1b" not in told


@pytest.mark.parametrize(
    "content",
    ["", "[]", "3", "{}", "[" * 100_000, '{"a":' * 100_000, "\xff", '"' + "a" * 10**6],
)
def test_a_config_that_is_none_is_refused(run, capsys, content):
    (run / "config.json").write_text(content, "latin-1")
    told = refused(run, capsys, r"config\.json is damaged, or not of this ppo_ref: ")
    assert len(told) < 1000
