"""The weekly question for new releases: asked of a package index of our own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from site_tools.data.facts import WHEELS
from tests.contributing.test_move_facts import NEW_CODE, OLD_CODE, put_wheel
from tests.layout import ROOT

PEERS = """# Read.
verl==1.9.0 --hash=sha256:00
verl==1.2.0 --hash=sha256:01
openrlhf==0.1.0 --hash=sha256:02
trl==1.0.0 --hash=sha256:03
"""
PYTHON = "mkdocs-material==9.8.1\ntorch==2.13.0\n"
PUBLISHED = {
    "verl": ["1.2.0", "1.9.0"],
    "trl": ["1.0.0"],
    "openrlhf": ["0.1.0"],
    "torch": ["2.13.0"],
    "mkdocs_material": ["9.8.1"],
}
FACT = """zh: 值
en: Values
entries:
- release: verl 1.9.0
  path: verl/core.py
  lines: 4
  quote: last = delta + last
"""


def publish(index: Path, name: str, version: str, wheel: Path | None = None) -> None:
    """Put a wheel into an index, an empty file unless there is one."""
    folder = index / name.replace("_", "-")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{version}-py3-none-any.whl"
    file.write_bytes(wheel.read_bytes() if wheel else b"")
    links = [f'<a href="{each.name}">{each.name}</a>' for each in folder.glob("*.whl")]
    page = "".join(links)
    (folder / "index.html").write_text(f"<!DOCTYPE html><body>{page}</body>")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with pins and a fact, beside an index that has what is pinned."""
    root = tmp_path / "project"
    (root / "docs/facts").mkdir(parents=True)
    (root / "docs/facts/values.yml").write_text(FACT, "utf-8")
    (root / "pins").mkdir()
    for name in ("environment.py", "peers.py", "releases.py"):
        shutil.copy(ROOT / "pins" / name, root / "pins" / name)
    (root / "pins/peers.txt").write_text(PEERS)
    (root / "pins/python.txt").write_text(PYTHON)
    # The commands work on the project that they lie in.
    shutil.copytree(ROOT / "site_tools", root / "site_tools")
    shutil.copy(ROOT / "pyproject.toml", root)
    put_wheel(root, "1.9.0", {"verl/core.py": OLD_CODE})
    for name, versions in PUBLISHED.items():
        for version in versions:
            publish(tmp_path / "index", name, version)
    return root


def ask(root: Path) -> tuple[int, str, dict[str, str] | None]:
    """Run it: the exit status, all that was said, and the issue if there is one."""
    output = root.parent / "output"
    output.unlink(missing_ok=True)
    settings = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": (root.parent / "index").as_uri(),
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_RETRIES": "0",
        "GITHUB_OUTPUT": str(output),
    }
    run = subprocess.run(
        [sys.executable, root / "pins/releases.py"],
        env=dict(os.environ, **settings),
        capture_output=True,
        text=True,
        cwd=root,
    )
    issue = None
    if output.exists() and output.read_text():
        (line,) = output.read_text().splitlines()
        issue = json.loads(line.removeprefix("issue="))
    return run.returncode, run.stdout + run.stderr, issue


def new_verl(root: Path) -> None:
    """Publish verl 1.10.0, which has metadata, so that pip takes it."""
    made = root.parent / "made"
    info = "verl-1.10.0.dist-info"
    files = {
        "verl/core.py": NEW_CODE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: verl\nVersion: 1.10.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    put_wheel(made, "1.10.0", files)
    wheel = made / WHEELS / "verl-1.10.0-py3-none-any.whl"
    publish(root.parent / "index", "verl", "1.10.0", wheel)


def test_nothing_new_opens_nothing(root):
    code, said, issue = ask(root)
    assert code == 0 and "Nothing is newer" in said, said
    assert issue is None


def test_a_new_release_is_read_and_told_with_a_patch(root):
    """1.10.0 is newer than 1.9.0, in number though not in letters."""
    new_verl(root)
    publish(root.parent / "index", "torch", "2.14.0")
    before = (root / "docs/facts/values.yml").read_text("utf-8")
    code, said, issue = ask(root)
    assert code == 0 and issue, said
    assert issue["title"] == "New: verl 1.10.0, torch 2.14.0"
    assert "places 1, of them on other lines 1" in issue["body"]
    assert 'make facts TO="verl 1.10.0"' in issue["body"]
    assert "## torch 2.14.0\n\nPinned is 2.13.0." in issue["body"]
    patch = (root / "releases/verl-1.10.0.patch").read_text("utf-8")
    assert "+- release: verl 1.10.0\n" in patch and "+verl==1.10.0 --hash=" in patch
    assert (root / "docs/facts/values.yml").read_text("utf-8") == before
    assert (root / "pins/peers.txt").read_text() == PEERS


def test_a_release_without_a_wheel_that_can_be_had_is_told_too(root):
    publish(root.parent / "index", "trl", "1.1.0")  # empty: pip cannot read it
    code, said, issue = ask(root)
    assert code == 0 and issue, said
    assert issue["title"] == "New: trl 1.1.0"
    assert "Its wheel cannot be had; pip said: ERROR" in issue["body"]


def test_facts_that_cannot_be_read_are_no_news(root):
    new_verl(root)
    (root / "docs/facts/values.yml").write_text("zh: 值\n", "utf-8")
    code, said, issue = ask(root)
    assert code == 1 and "make facts wrote no patch for verl 1.10.0" in said
    assert "docs/facts/values.yml" in said and issue is None


def test_an_index_that_does_not_know_one_is_no_sign_that_nothing_is_new(root):
    shutil.rmtree(root.parent / "index/trl")
    code, said, issue = ask(root)
    assert code == 1 and "says no release of trl" in said
    assert issue is None


def test_what_is_asked_for_is_pinned_here():
    text = "".join(
        (ROOT / "pins" / name).read_text() for name in ("peers.txt", "python.txt")
    )
    asked = ("verl", "trl", "openrlhf", "torch", "mkdocs-material")
    assert [name for name in asked if f"\n{name}==" not in text] == []
