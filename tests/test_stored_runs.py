"""A stored run is read whole, or refused with its line and the remedy."""

import json
from pathlib import Path

import pytest

from ppo_ref.train import stored_runs
from ppo_ref.train.stored_runs import parse_run, stored_names, stored_run

HEADER = {
    "format": 1,
    "name": "tiny",
    "what": "Two iterations.",
    "options": {"kl_coef": 0.1},
    "seed": 7,
    "torch": "2.13.0",
    "machine": "x86_64 CPU, 1 thread",
    "iterations": 3,
    "records": 1,
}
LINES = [
    HEADER,
    {"iteration": 1, "kl": 0.5, "held_out": 1},
    {"iteration": 1, "record": "row 0", "ids": [3, 4], "text": "3+"},
    {"iteration": 2, "kl": 0.25},
    {"iteration": 3, "kl": 0.125, "held_out": 2},
]
TEXT = "".join(f"{json.dumps(line)}\n" for line in LINES)


def test_a_column_is_what_was_measured():
    run = parse_run(TEXT, "tiny")
    assert (run.header, run.records) == (HEADER, [LINES[2]])
    assert run.column("kl") == [0.5, 0.25, 0.125]
    assert run.column("held_out") == [1, 2]
    with pytest.raises(ValueError) as refusal:
        run.column("KL")
    known = "iteration, kl, held_out"
    assert str(refusal.value) == f"column: statistic must be one of {known}, got KL"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (TEXT, "", "line 1: must be a header, got nothing"),
        ('"seed": 7, ', "", "line 1: must be a header, lacks seed"),
        ("0.25", '"0.25"', "line 4: kl must be a finite number, got '0.25'"),
        ('"iteration": 2', '"iteration": 3', "line 4: iteration must be 2, got 3"),
        (
            TEXT.splitlines(True)[-1],
            "",
            "line 4: iterations must be as many as the header says, 3, got 2",
        ),
    ],
)
def test_a_damaged_file_is_refused(old, new, told):
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError) as refusal:
        parse_run(TEXT.replace(old, new), "tiny")
    assert str(refusal.value).startswith(f"stored run tiny, {told}")
    assert str(refusal.value).endswith(
        "; the file is damaged: install ppo_ref anew, or in its project run make runs"
    )


def test_runs_lie_in_the_package(tmp_path, monkeypatch):
    assert Path(stored_runs.__file__).parent / "stored" == stored_runs.FOLDER
    monkeypatch.setattr(stored_runs, "FOLDER", tmp_path)
    (tmp_path / "tiny.jsonl").write_text(TEXT, "utf-8")
    (tmp_path / "notes.txt").write_text("private")
    assert stored_names() == ["tiny"]
    assert stored_run("tiny") == parse_run(TEXT, "tiny")
    for name in ("notes", "../stored/tiny"):
        with pytest.raises(ValueError, match="name must be one of stored_names"):
            stored_run(name)
