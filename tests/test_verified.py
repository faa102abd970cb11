"""A run of the pages leaves a manifest; a run on a GPU can become a record."""

import os
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from site_tools.ledger import read
from site_tools.page.page import read_page
from site_tools.run.evidence import (
    RECORD,
    block_hashes,
    gather,
    note,
    passed,
    setting,
)
from tests import record, verified
from tests.layout import ROOT

NEEDED = ["ppo_ref", "site_tools", "tests", "mkdocs.yml", "pyproject.toml"]
BLOCK = """---
title: T
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
    page.write_text(BLOCK.format(number=number, shown=shown), "utf-8")
    return f"docs/{name}"


def hashes(root: Path, page: str) -> list[str]:
    return list(block_hashes(read_page(root, page).blocks).values())


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
def test_a_run_notes_what_passed_page_by_page(project):
    good = write(project, "en/about/good.md")
    bad = write(project, "en/about/bad.md", number=2)
    told = run_pages(project, "-n2", "--dist=loadfile", good, bad)
    known = gather(project)
    assert known.cpu.keys() == {good, bad}, told
    _, second = hashes(project, bad)
    assert passed(known.cpu, good, known.setting) == hashes(project, good)
    assert passed(known.cpu, bad, known.setting) == [second]
    # On a stand-in for a GPU the block runs as changed, and is noted as it stands;
    # the other page has changed and is not run.
    write(project, "en/about/good.md", number=3)
    write(project, "en/about/bad.md", shown="cpu:0 1")
    told = run_pages(project, bad, "--device", "cpu:0")
    known = gather(project)
    assert passed(known.cpu, bad, known.setting) == hashes(project, bad), told
    assert not any(known.on_cpu(good, block) for block in hashes(project, good))


def git(root: Path, *words: str) -> str:
    name = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    command = ["git", "-C", str(root), *name, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository with two pages, all of it committed."""
    (tmp_path / "ppo_ref").mkdir()
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    (tmp_path / ".gitignore").write_text("/.cache/\n")
    write(tmp_path, "en/about/one.md")
    write(tmp_path, "zh/about/one.md")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


def stand_in(*pages: str) -> object:
    """A run that passes the blocks of these pages."""

    def run(root: Path, device: str) -> None:
        passed = {page: {"passed": hashes(root, page)} for page in pages}
        note(root, "cuda", setting(root), "NVIDIA H200", passed)

    return run


def test_a_record_is_the_manifest_with_its_commit_and_leaves_no_block_out(
    committed, monkeypatch
):
    write(committed, "en/about/new.md", number=2)
    with pytest.raises(SystemExit, match=r"commit or remove docs/en/about/new\.md"):
        record.record(committed, "cuda")
    (committed / "docs/en/about/new.md").unlink()
    pages = ["docs/en/about/one.md", "docs/zh/about/one.md"]
    monkeypatch.setattr(record, "run", stand_in(pages[0]))
    with pytest.raises(SystemExit, match=r"did not: \['docs/zh/about/one.md'\]"):
        record.record(committed, "cuda")
    assert not (committed / RECORD).exists()
    monkeypatch.setattr(record, "run", stand_in(*pages))
    record.record(committed, "cuda:0")
    made = read(committed / RECORD)
    commit = git(committed, "rev-parse", "HEAD").strip()
    assert {entry.by["commit"] for entry in made.values()} == {commit}
    assert {page: made[page].made_from["blocks"] for page in made} == {
        page: hashes(committed, page)[-1] for page in pages
    }


def test_nothing_is_noted_when_the_package_changed_under_way(tmp_path, monkeypatch):
    monkeypatch.setattr(verified, "ROOT", tmp_path)
    calls = []
    monkeypatch.setattr(verified.evidence, "note", lambda *told: calls.append(told))
    monkeypatch.setattr(verified.evidence, "outcome", lambda run: run.passed)
    (tmp_path / "ppo_ref").mkdir()
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    noted = verified.Note("cpu")
    page, passed = SimpleNamespace(path="docs/en/about/one.md"), ["a block"]
    run = SimpleNamespace(page=page, running=passed, passed=passed)
    noted.runs[page.path] = run
    (tmp_path / "ppo_ref" / "gae.py").write_text("x = 1")
    noted.pytest_sessionfinish()
    assert calls == []
    (tmp_path / "ppo_ref" / "gae.py").unlink()
    noted.pytest_sessionfinish()
    assert calls == [(tmp_path, "cpu", noted.setting, "CPU", {page.path: passed})]


def test_all_is_verified_until_something_is_edited(tmp_path, monkeypatch):
    page, package = tmp_path / write(tmp_path, "en/good.md"), tmp_path / "ppo_ref"
    package.mkdir()
    (package / "one.py").write_text("ONE = 1\n", "utf-8")
    monkeypatch.setattr(verified, "ROOT", tmp_path)
    text = page.read_text("utf-8")
    for after in ("passed", "edited and mended", "failed", "left out", "passed"):
        run = verified.Whole()
        run.files = {"docs/en/good.md"} if after != "left out" else set()
        if after == "edited and mended":
            os.utime(page)
        run.pytest_sessionfinish(after == "failed")
        assert verified.all_verified(tmp_path) == (after == "passed")
    page.write_text(text + "\n", "utf-8")
    assert not verified.all_verified(tmp_path)


@pytest.mark.parametrize(
    "more", [{"keyword": "gae"}, {"device": "cuda"}, {"markexpr": "slow"}]
)
def test_a_run_of_some_pages_is_none_of_all(more):
    options = {"device": "cpu", "markexpr": "not slow", "keyword": "", "lf": False}
    assert verified.of_all(["tests", "docs"], Namespace(**options))
    assert not verified.of_all(["docs/zh"], Namespace(**options))
    assert not verified.of_all(["docs"], Namespace(**options | more))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused_in_one_sentence():
    text = "cuda must be a GPU that PyTorch can use, torch "
    assert verified.refuse("cuda").startswith(text)
