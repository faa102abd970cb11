"""The projects that commands are typed in."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from site_tools.contributing import chat
from tests.contributing.trial import make, state
from tests.layout import ROOT


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One page in both languages, which is right."""
    return make(tmp_path)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, their code and their data, without anybody's cache."""
    root = tmp_path_factory.mktemp("project")
    hidden = shutil.ignore_patterns("__pycache__", "theme")
    for name in ("docs", "snippets", "ppo_ref", "tests/properties"):
        shutil.copytree(ROOT / name, root / name, ignore=hidden)
    for name in ("mkdocs.yml", "mkdocs.en.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture
def root(copied: Path) -> Iterator[Path]:
    """The project, to write into; afterwards it is as it was."""
    before = state(copied)
    yield copied
    after = state(copied)
    for path in after.keys() - before.keys():
        (copied / path).unlink()
    for path, data in before.items():
        if after.get(path) != data:
            (copied / path).parent.mkdir(parents=True, exist_ok=True)
            (copied / path).write_bytes(data)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which no page answers anything."""
    monkeypatch.setattr(chat, "wordings", lambda root: {})
    return tmp_path
