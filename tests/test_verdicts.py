"""A run of the pages leaves a verdict for each; a run on a GPU can become a record."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml

from site_tools.run.passed import read_passed
from tests import record
from tests.devices import refuse
from tests.layout import ROOT
from tests.verdicts import Verdicts

NEEDED = ["ppo_ref", "site_tools", "tests", "mkdocs.yml", "pyproject.toml"]
BLOCK = """---
title: {title}
---

```python
device = "cpu"
print(device, {number})
```

```output
{shown}
```

```{{ .python .cont }}
assert device
```
"""


def write(root: Path, name: str, number: int = 1, shown: str = "cpu 1") -> str:
    page = root / "docs" / name
    page.parent.mkdir(parents=True, exist_ok=True)
    text = BLOCK.format(title=page.stem, number=number, shown=shown)
    page.write_text(text, "utf-8")
    return f"docs/{name}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project without its pages."""
    for name in NEEDED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    (tmp_path / "snippets").mkdir()
    return tmp_path


def run_pages(root: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return run.stdout + run.stderr


@pytest.mark.slow
def test_a_run_notes_the_pages_that_passed(project):
    good = write(project, "en/about/good.md")
    bad = write(project, "en/about/bad.md", number=2)
    told = run_pages(project, "-n2", "--dist=loadfile", good, bad)
    line = read_passed(project).verdict_line(good)
    assert line and (line.blocks, line.figures) == (2, 0), told
    assert read_passed(project).verdict_line(bad) is None
    # A part of a page is no page, and a GPU's run (a stand-in) gives no verdict here.
    write(project, "en/about/bad.md", shown="cpu 1")
    told = run_pages(project, f"{bad}::block at line 5")
    assert "1 passed" in told and read_passed(project).verdict_line(bad) is None
    told = run_pages(project, bad, "--device", "cpu:0")
    assert read_passed(project).verdict_line(bad) is None
    told = run_pages(project, bad)
    assert read_passed(project).verdict_line(bad), told


PAGE = "docs/en/about/one.md"
TOLD = {"examples": 2, "verified": {"blocks": 1, "figures": 0}}


def report(file: str = PAGE, *, failed: bool = False, told: bool = True):
    properties = [("page", TOLD)] if told else []
    return SimpleNamespace(
        nodeid=f"{file}::page", when="call", failed=failed, user_properties=properties
    )


@pytest.fixture
def heard(tmp_path: Path) -> Verdicts:
    """A run of a page of two examples, of which one has passed."""
    write(tmp_path, "en/about/one.md")
    (tmp_path / "ppo_ref").mkdir()
    (tmp_path / "ppo_ref" / "kl.py").write_text("K = 1\n")
    verdicts = Verdicts(tmp_path)
    verdicts.pytest_runtest_logreport(report())
    return verdicts


def test_a_page_passes_when_all_of_it_has(heard):
    assert heard.verdicts() == {}, "half of it has run"
    heard.pytest_runtest_logreport(report(told=False))
    assert heard.verdicts() == {"about/one": {"en": TOLD["verified"]}}
    heard.pytest_runtest_logreport(report(failed=True))
    assert heard.verdicts() == {"about/one": {}}


def test_a_page_does_not_pass_in_one_of_its_languages(heard):
    heard.pytest_runtest_logreport(report(told=False))
    write(heard.root, "zh/about/one.md")
    assert Verdicts(heard.root).verdicts() == {}
    heard.before = Verdicts(heard.root).before
    assert heard.verdicts() == {}


def edited(file: Path) -> None:
    file.write_text(f"{file.read_text('utf-8')}\n", "utf-8")


def mended(file: Path) -> None:
    """Edited, and edited back."""
    before, times = file.read_bytes(), (file.stat().st_atime, file.stat().st_mtime)
    file.write_bytes(b"x")
    file.write_bytes(before)
    os.utime(file, times)


@pytest.mark.parametrize("file", [PAGE, "ppo_ref/kl.py"])
@pytest.mark.parametrize("change", [edited, mended, Path.unlink])
def test_nothing_is_noted_of_what_was_edited_under_way(heard, file, change):
    heard.pytest_runtest_logreport(report(told=False))
    change(heard.root / file)
    assert heard.verdicts() == {}


def git(root: Path, *words: str) -> str:
    name = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    command = ["git", "-C", str(root), *name, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository with a page in both languages, all of it committed."""
    write(tmp_path, "en/about/one.md")
    write(tmp_path, "zh/about/one.md")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


def test_a_record_names_the_commit_that_ran_and_passed(committed, monkeypatch):
    write(committed, "en/about/new.md", number=2)
    with pytest.raises(SystemExit, match=r"commit or remove docs/en/about/new\.md"):
        record.record(committed, "cuda", "NVIDIA H200")
    (committed / "docs/en/about/new.md").unlink()
    with pytest.raises(SystemExit):  # here are no tests: the run fails
        record.record(committed, "cuda", "NVIDIA H200")
    assert not (committed / record.RECORD).exists()
    monkeypatch.setattr(record, "run", lambda *_: None)
    record.record(committed, "cuda", "NVIDIA H200")
    made = yaml.safe_load((committed / record.RECORD).read_text("utf-8"))
    commit = git(committed, "rev-parse", "HEAD").strip()
    assert (made["commit"], made["device"], made["pages"]) == (commit, "NVIDIA H200", 1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused_in_one_sentence():
    text = "cuda must be a GPU that PyTorch can use, torch "
    assert refuse("cuda").startswith(text)
