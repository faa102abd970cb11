"""Training runs are produced once, stored whole, and known to be stale."""

from pathlib import Path

import pytest

from site_tools.ledger import read_ledger
from site_tools.messages import Problem
from site_tools.stored_runs.code import code_hash
from site_tools.stored_runs.make import (
    LEDGER,
    PRODUCING,
    closure,
    code_of,
    make,
    problems,
    read_stored_runs,
    redraw,
    store_run,
)
from site_tools.stored_runs.table import CHARTS, RUNS
from tests.site.sample import ROOT, broken
from tests.stored_runs import stand_in

CHART = {"pipeline/runs.svg": stand_in.CHART}
STORED = "ppo_ref/train/stored/first.jsonl"


def found(root: Path) -> list[Problem]:
    return list(problems(root, stand_in.RUNS, CHART))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All runs and their chart, made by the stand-in; nobody changes them."""
    root = tmp_path_factory.mktemp("project")
    (root / PRODUCING).parent.mkdir(parents=True)
    (root / PRODUCING).write_text("x = 1")
    for name, run in stand_in.RUNS.items():
        store_run(root, name, run, code_of(root), stand_in.produce)
    redraw(root, CHART)
    return root


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    for file in (file for file in project.rglob("*") if file.is_file()):
        target = tmp_path / file.relative_to(project)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    return tmp_path


def test_the_stored_runs_of_the_project_are_those_of_the_table():
    assert "\n".join(map(str, problems(ROOT, RUNS, CHARTS))) == ""


def test_a_run_says_how_it_was_made_and_what_it_measured(project):
    assert found(project) == []
    run = read_stored_runs(project, ["first"])["first"]
    assert run.header["what"] == "Falls slowly."
    assert run.header["options"] == {"rate": 0.9, "limits": [0.2, 0.3]}
    assert (run.header["seed"], run.header["iterations"]) == (1, 3)
    assert run.header["machine"].endswith(" CPU, 1 thread")
    known = read_ledger(project / LEDGER)["first"].known
    assert known["by"]["torch"] == run.header["torch"]
    assert run.column("kl") == [0.333333, 0.3, 0.27]
    assert run.column("score") == [0.0, 2.0]
    kl = [0.333333, -3.33333e-10]
    assert run.records == [{"iteration": 2, "record": "row 0", "ids": [3, 4], "kl": kl}]
    lines = (project / STORED).read_text("utf-8").splitlines()
    assert lines[2] == '{"iteration":2,"kl":0.3}'


@pytest.mark.slow  # two processes import torch
def test_a_run_that_fails_leaves_what_was_there_and_no_other_is_touched(copy, capfd):
    for name in ("first", "second"):  # the third is fresh
        (copy / f"ppo_ref/train/stored/{name}.jsonl").write_text("old")
    (failed,) = make(copy, stand_in.RUNS, stand_in.one_fails)
    assert failed == "second: ValueError: the actor has no gradient"
    assert (copy / "ppo_ref/train/stored/second.jsonl").read_text() == "old"
    told = capfd.readouterr().out
    assert "first: 0 kB, stored\n" in told and "third" not in told
    assert [problem.path for problem in found(copy)] == [
        "ppo_ref/train/stored/second.jsonl"
    ]


def test_other_code_that_gives_the_same_numbers_changes_no_file(copy):
    (copy / PRODUCING).write_text("x = 2")
    assert [problem.found for problem in found(copy)] == [
        "a stale run: changed since it was made: code"
    ] * 3
    before = (copy / STORED).read_bytes()
    code = code_hash(copy, [copy / PRODUCING])
    run = stand_in.RUNS["first"]
    told = store_run(copy, "first", run, code, stand_in.produce)
    assert told == "0 kB, every number as it was"
    assert (copy / STORED).read_bytes() == before
    assert len(found(copy)) == 2


DRAWN = "snippets/pipeline/runs.svg"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (STORED, '{"iteration":2,"kl":0.3}\n', "", "stored run first, line 4: iter"),
        (
            STORED,
            '"kl":0.3}',
            '"kl":0.31}',
            "a stale run: changed since it was made: f",
        ),
        (DRAWN, "0.3", "0.4", "a chart that its runs do not give"),
    ],
)
def test_what_is_not_as_it_must_be_is_found(copy, file, old, new, told):
    text = (copy / file).read_text("utf-8")
    (copy / file).write_text(broken(old, new, text), "utf-8")
    (problem,) = found(copy)
    assert problem.found.startswith(told) and problem.fix == "run make runs"
    if file == DRAWN:
        redraw(copy, CHART)
        assert found(copy) == []


def test_a_file_of_no_run_and_a_run_without_its_file_are_found(copy):
    (copy / STORED).rename(copy / "ppo_ref/train/stored/old.jsonl")
    assert [problem.found for problem in found(copy)] == ["no file", "a file of no run"]


def test_what_is_no_number_is_not_stored(copy):
    before = (copy / STORED).read_bytes()
    run, measured = stand_in.RUNS["first"], [{"kl": "0.5"}]
    with pytest.raises(ValueError, match="kl must be a finite number"):
        store_run(copy, "first", run, "code", lambda name: measured)
    assert (copy / STORED).read_bytes() == before


MODULES = {
    "tools/make.py": "def late():\n    from ppo_ref.trainer import train",
    "ppo_ref/__init__.py": "",
    "ppo_ref/trainer.py": "from ppo_ref import losses\nimport ppo_ref.folder.deep as d",
    "ppo_ref/losses.py": "from .shapes import Tokens",
    "ppo_ref/shapes.py": "import torch",
    "ppo_ref/folder/__init__.py": "",
    "ppo_ref/folder/deep.py": "from . import near\nfrom .. import shapes",
    "ppo_ref/folder/near.py": "from ppo_ref.trainer import train",
    "ppo_ref/folder/other.py": "",
    "ppo_ref/trace.py": "from ppo_ref.losses import policy_loss",
}


def test_a_run_rests_on_what_its_trainer_imports(tmp_path):
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    files = closure(tmp_path, tmp_path / "tools/make.py")
    names = {file.relative_to(tmp_path).as_posix() for file in files}
    assert MODULES.keys() - names == {"ppo_ref/trace.py", "ppo_ref/folder/other.py"}
    before = code_hash(tmp_path, files)
    shapes = tmp_path / "ppo_ref/shapes.py"
    shapes.write_text('"""Shapes."""\n\nimport torch  # and words\n')
    assert code_hash(tmp_path, files) == before
    shapes.write_text("import torch\nx = 1")
    assert code_hash(tmp_path, files) != before
