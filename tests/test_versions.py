"""One place says the version, and every command and the list of changes agree."""

import re
import subprocess
import sys
import tomllib

import pytest

from tests.layout import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.parametrize("command", ["ppo_ref", "site_tools"])
def test_a_command_says_the_version_of_the_project(command):
    words = [sys.executable, "-m", command, "--version"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    due = f"{PROJECT['name']} {PROJECT['version']}\n"
    remedy = f"{command}: if the version was raised, install it: make ready"
    assert (done.stdout, done.stderr) == (due, ""), remedy


def test_the_list_of_changes_begins_with_the_version():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert headings[0] == PROJECT["version"]
    assert len(set(headings)) == len(headings)


def test_nowhere_else_is_a_version_of_it_said():
    said = re.compile(r"^__version__\s*=", re.MULTILINE)
    for folder in ("ppo_ref", "site_tools"):
        for file in (ROOT / folder).rglob("*.py"):
            assert not said.search(file.read_text("utf-8")), file
