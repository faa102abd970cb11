"""The wheel that the site serves: from the sources as they are, once per state."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest

from site_tools.compile.downloads import wheel
from tests.layout import ROOT


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the wheel is made from."""
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ppo_ref", tmp_path / "ppo_ref", ignore=ignored)
    return tmp_path


def make(project: Path, cache: str = "cache") -> Path:
    return wheel(project, project / cache)


def metadata_of(built: Path) -> Message:
    with ZipFile(built) as made:
        name = next(n for n in made.namelist() if n.endswith("METADATA"))
        return message_from_bytes(made.read(name))


def test_it_holds_the_package_and_nothing_else(project):
    (project / "ppo_ref/notes.txt").write_text("private")
    (project / "ppo_ref/notes.json").write_text("{}")
    with ZipFile(make(project)) as made:
        content = {name: made.read(name) for name in made.namelist()}
    package = {n: c for n, c in content.items() if n.startswith("ppo_ref/")}
    sources = [*project.rglob("ppo_ref/**/*.py"), project / "ppo_ref/py.typed"]
    sources += project.rglob("ppo_ref/**/*.jsonl")
    sources += [project / "ppo_ref/README.md"]
    sources += [project / "ppo_ref/check/doctor/doctor.json"]
    sources += [project / "ppo_ref/practice/holes.json"]
    sources += (project / "ppo_ref/train/viewer").iterdir()
    assert package == {
        path.relative_to(project).as_posix(): path.read_bytes() for path in sources
    }
    assert any(name.endswith("licenses/LICENSE") for name in content)


def test_it_is_built_once_per_state_and_its_version_tells_them_apart(project):
    first = make(project)
    version = metadata_of(first)["Version"]
    assert version.startswith("0.1.0+src") and version in first.name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", None)
        assert make(project) == first
    assert [path.name for path in (project / "cache").iterdir()] == [first.parent.name]
    with (project / "ppo_ref/kl.py").open("a") as kl:
        kl.write("# one more line\n")
    assert make(project).name != first.name


def test_it_says_the_addresses_that_whoever_builds_gives(project):
    plain = make(project)
    assert metadata_of(plain).get_all("Project-URL") is None
    given = {"Documentation": "https://example.org/site/", "Source": ""}
    told = wheel(project, project / "cache", given)
    urls = metadata_of(told).get_all("Project-URL")
    assert urls == ["Documentation, https://example.org/site/"]
    assert told.name != plain.name
    assert "example" not in (project / "pyproject.toml").read_text()


def test_its_bytes_are_the_same_on_every_machine(project, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    first = make(project).read_bytes()
    with ZipFile(make(project)) as made:
        assert {i.date_time for i in made.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    (project / "ppo_ref/kl.py").touch()
    (project / "ppo_ref/kl.py").chmod(0o600)
    before = os.umask(0o077)
    try:
        assert make(project, "another").read_bytes() == first
    finally:
        os.umask(before)


def test_what_is_installed_runs_as_a_command(project, tmp_path):
    """Unpacked somewhere, with nothing of the project beside it."""
    with ZipFile(make(project)) as made:
        made.extractall(tmp_path / "installed")
    (entry,) = (tmp_path / "installed").glob("*.dist-info/entry_points.txt")
    assert "ppo-ref = ppo_ref.command.main:main" in entry.read_text()
    log = tmp_path / "train.log"
    log.write_text("".join(f"step:{n} - critic/score/mean:0.5\n" for n in range(12)))
    for arguments, told in (
        (["check", str(log)], "critic/score/mean"),
        (["practice"], "truncated_weights"),
        (["practice", "gae"], "practice/gae.py"),
    ):
        run = subprocess.run(
            [sys.executable, "-m", "ppo_ref", *arguments],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path / "installed"), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
        )
        assert told in run.stdout, run.stderr


def test_what_an_index_shows_has_no_link_that_leads_nowhere(project):
    metadata = metadata_of(make(project))
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    assert "ppo-ref check" in text and not re.search(r"\]\((?!https?://)", text)


def test_what_an_index_shows_runs():
    found = doctest.testfile(
        str(ROOT / "ppo_ref/README.md"), module_relative=False, encoding="utf-8"
    )
    assert found.attempted > 5 and found.failed == 0


def test_a_failure_is_one_sentence(project):
    (project / "pyproject.toml").write_text('[project\nversion = "1"\n')
    with pytest.raises(ValueError, match="wheel of ppo_ref cannot be built: ") as told:
        make(project)
    assert "\n" not in str(told.value) and not list(project.glob("cache/*/*.whl"))
