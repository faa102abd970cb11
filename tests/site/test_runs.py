"""Training runs are produced once, stored whole, and known to be stale."""

import json
from collections.abc import Callable
from multiprocessing import active_children
from pathlib import Path

import pytest

from site_tools.problems import Problem
from site_tools.runs import storing
from site_tools.runs.__main__ import PRODUCING
from site_tools.runs.closure import closure, closure_hash
from site_tools.runs.freshness import problems, stored
from site_tools.runs.making import make, redraw
from site_tools.runs.model import Run
from site_tools.runs.table import CHARTS, RUNS
from tests.site import stand_in
from tests.site.sample import ROOT

PACKAGE = "0123456789abcdef"
CHART = {"pipeline/runs.svg": stand_in.CHART}


def made(root: Path, produce: stand_in.Any = stand_in.produce) -> list[str]:
    return make(root, stand_in.RUNS, produce, PACKAGE)


def found(root: Path, package: str = PACKAGE) -> list[Problem]:
    return list(problems(root, stand_in.RUNS, CHART, package))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both runs and their chart, made by the stand-in; nobody changes them."""
    root = tmp_path_factory.mktemp("project")
    assert made(root) == []
    redraw(root, CHART)
    return root


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    for file in (file for file in project.rglob("*") if file.is_file()):
        target = tmp_path / file.relative_to(project)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    return tmp_path


def test_the_stored_runs_of_the_project_are_those_of_the_table() -> None:
    package = closure_hash(ROOT, ROOT / PRODUCING)
    assert "\n".join(map(str, problems(ROOT, RUNS, CHARTS, package))) == ""


def test_a_run_says_how_it_was_made_and_what_it_measured(project: Path) -> None:
    assert found(project) == []
    run = stored(project, ["first"])["first"]
    assert run.header["what"] == "Falls slowly."
    assert run.header["options"] == {"rate": 0.9, "limits": [0.2, 0.3]}
    assert (run.header["seed"], run.header["package"]) == (1, PACKAGE)
    assert run.header["machine"].endswith(" CPU, 1 thread")
    assert run.column("kl") == [0.333333, 0.3, 0.27]
    assert run.column("score") == [0.0, 2.0]
    kl = [0.333333, -3.33333e-10]
    assert run.records == [{"iteration": 2, "record": "row 0", "ids": [3, 4], "kl": kl}]
    lines = (project / "ppo_ref/stored/first.jsonl").read_text("utf-8").splitlines()
    assert lines[2] == '{"iteration":2,"kl":0.3}'


def test_what_is_fresh_is_not_produced_again(copy: Path) -> None:
    (copy / "ppo_ref/stored/second.jsonl").unlink()
    assert made(copy, stand_in.none_runs) == [
        "second: AssertionError: second is produced again"
    ]


def test_a_run_that_fails_leaves_what_was_there(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("first", "second"):
        (copy / f"ppo_ref/stored/{name}.jsonl").write_text("old")
    assert made(copy, stand_in.one_fails) == [
        "second: ValueError: the actor has no gradient"
    ]
    assert (copy / "ppo_ref/stored/second.jsonl").read_text() == "old"
    assert capsys.readouterr().out == "first: stored, 0 kB\n"
    assert [problem.path for problem in found(copy)] == ["ppo_ref/stored/second.jsonl"]
    assert len(list((copy / "ppo_ref/stored").iterdir())) == 2


def test_a_run_that_ends_its_process_is_told_and_the_others_go_on(copy: Path) -> None:
    for name in ("first", "second"):
        (copy / f"ppo_ref/stored/{name}.jsonl").write_text("old")
    assert made(copy, stand_in.one_dies) == ["second: its process ended with 9"]
    assert (copy / "ppo_ref/stored/second.jsonl").read_text() == "old"
    assert [problem.path for problem in found(copy)] == ["ppo_ref/stored/second.jsonl"]


def test_progress_is_told_and_an_interruption_ends_what_is_under_way(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {name: stand_in.RUNS["first"] for name in ("one", "two", "three")}
    told: list[str] = []

    def interrupted(sentence: str, flush: bool) -> None:
        told.append(sentence)
        if len(told) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("builtins.print", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make(copy, runs, stand_in.never_ends, PACKAGE)
    assert {"one: iteration 10", "two: iteration 10"} & {*told}
    assert not [sentence for sentence in told if "three" in sentence]
    assert active_children() == []
    names = {path.name for path in (copy / "ppo_ref/stored").iterdir()}
    assert names == {"first.jsonl", "second.jsonl"}


Change = Callable[[Path], object]
STORED = "ppo_ref/stored/first.jsonl"
FAULTS: dict[str, tuple[Change, str, str]] = {
    "missing": (
        lambda root: (root / STORED).unlink(),
        "no file",
        "the run: Falls slow",
    ),
    "damaged": (
        lambda root: edit(root / STORED, '{"iteration":2,"kl":0.3}\n', ""),
        "stored run first, line 4: iteration must be 2",
        "a run as it was stored",
    ),
    "not text": (
        lambda root: (root / STORED).write_bytes(b"\xff"),
        "'utf-8' codec can't",
        "a run as it was stored",
    ),
    "other format": (
        lambda root: edit(root / STORED, '"format":1', '"format":2'),
        "stored run first, line 1: format must be 1, got 2",
        "a run as it was stored",
    ),
    "other code": (
        lambda root: edit(root / STORED, PACKAGE, "f" * 16),
        f"a stale run: package is {'f' * 16}",
        f"package {PACKAGE}",
    ),
    "other seed": (
        lambda root: edit(root / STORED, '"seed":1', '"seed":3'),
        "a stale run: seed is 3",
        "seed 1",
    ),
    "other options": (
        lambda root: edit(root / STORED, '"rate":0.9', '"rate":0.8'),
        "a stale run: options is {'rate': 0.8, 'limits': [0.2, 0.3]}",
        "options {'rate': 0.9, 'limits': [0.2, 0.3]}",
    ),
    "too large": (
        lambda root: edit(root / STORED, "row 0", "row" + 160_000 * "!"),
        "160",
        "at most 160000 bytes a run",
    ),
    "no run": (
        lambda root: (root / "ppo_ref/stored/old.jsonl").write_text(""),
        "a file of no run",
        "a run of the table in site_tools/runs/table.py",
    ),
    "other chart": (
        lambda root: edit(root / "snippets/pipeline/runs.svg", "0.333", "0.334"),
        "a chart that its runs do not give",
        "the chart as it is drawn from the stored runs",
    ),
    "no chart": (
        lambda root: (root / "snippets/pipeline/runs.svg").unlink(),
        "no file",
        "the chart as it is drawn from the stored runs",
    ),
}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_as_it_must_be_is_found(copy: Path, fault: str) -> None:
    change, told, expected = FAULTS[fault]
    change(copy)
    (problem,) = found(copy)
    assert problem.found.startswith(told) and problem.expected.startswith(expected)
    assert problem.fix == {
        "too large": "record fewer tokens or iterations, then run make runs",
        "no run": "delete it",
    }.get(fault, "run make runs")


def test_a_chart_is_drawn_again_when_a_run_has_changed(copy: Path) -> None:
    edit(copy / STORED, '"kl":0.3}', '"kl":0.31}')
    assert [problem.path for problem in found(copy)] == ["snippets/pipeline/runs.svg"]
    redraw(copy, CHART)
    assert found(copy) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"kl": float("nan")}, "kl must be finite, got nan"),
        ({"kl": 1.0, "score": float("inf")}, "score must be finite, got inf"),
        ({"record": "row", "kl": [[float("-inf")]]}, "kl must be finite, got -inf"),
        ({"kl": [0.5]}, "kl must be a number, got [0.5]"),
        ({"kl": "0.5"}, "kl must be a number, got '0.5'"),
        ({"kl": True}, "kl must be a number, got True"),
        (
            {"iteration": 0, "kl": 0.5},
            "iteration must be 2, as they are counted from 1",
        ),
    ],
)
def test_what_is_no_number_is_not_stored(line: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError) as refusal:
        list(storing.numbered("first", [{"kl": 0.5}, line]))
    iteration = 1 if "record" in line else 2
    assert str(refusal.value).startswith(f"run first, iteration {iteration}: {told}")


def test_a_header_counts_what_follows() -> None:
    header = storing.header("first", Run("It.", {}, 0), PACKAGE)
    lines = storing.numbered("first", [{"kl": 0.5}, {"record": "a"}, {"kl": 1}])
    first = json.loads(storing.text(header, lines).splitlines()[0])
    assert (first["iterations"], first["records"]) == (2, 1)


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


def written(root: Path) -> Path:
    for name, text in MODULES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root / "tools/make.py"


def test_a_run_rests_on_what_its_trainer_imports(tmp_path: Path) -> None:
    files = closure(tmp_path, written(tmp_path))
    names = {file.relative_to(tmp_path).as_posix() for file in files}
    assert MODULES.keys() - names == {"ppo_ref/trace.py", "ppo_ref/folder/other.py"}


def test_a_change_elsewhere_leaves_a_run_fresh(tmp_path: Path) -> None:
    start = written(tmp_path)
    before = closure_hash(tmp_path, start)
    for name in ("ppo_ref/trace.py", "ppo_ref/folder/other.py"):
        (tmp_path / name).write_text("x = 1")
    shapes = tmp_path / "ppo_ref/shapes.py"
    shapes.write_text('"""Shapes."""\n\nimport torch  # and words\n')
    assert closure_hash(tmp_path, start) == before
    for changed in (shapes, tmp_path / "ppo_ref/folder/near.py", start):
        text = changed.read_text()
        changed.write_text(f"{text}\nx = 1\n")
        assert closure_hash(tmp_path, start) != before
        changed.write_text(text)
