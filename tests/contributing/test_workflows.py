"""No workflow gives a pull request anything to gain.

zizmor judges most of it (test_linters.py): pins by hash, dangerous events, permissions,
credentials that persist, expressions in a shell, concurrency. Here is what is stricter.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.iterdir())
SOUND = """name: sound
on:
  pull_request:
permissions: {}
concurrency:
  group: sound
jobs:
  one:
    name: one job
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read # the code
    steps:
      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3
        with:
          persist-credentials: false
      - run: make test
"""
EVENTS = {"pull_request", "push", "workflow_dispatch"}
# What may be written, and the one job that may.
WRITERS = {("pages.yml", "deploy"): {"pages", "id-token"}}
MINUTES = 60


def faults(text: str, name: str = "sound.yml") -> list[str]:
    """What is wrong with a workflow, by the name of its file."""
    workflow = yaml.safe_load(text)
    found = ["secrets"] if re.search(r"(?m)^[^#\n]*\bsecrets\b", text) else []
    # YAML 1.1 takes the key on for True.
    events = workflow.get(True, {})
    found += [event for event in events if event not in EVENTS]
    for key, job in workflow["jobs"].items():
        found += _faults_of_job(job, WRITERS.get((name, key), set()))
    return found


def _faults_of_job(job: dict[str, Any], may_write: set[str]) -> Iterator[str]:
    if not 0 < job.get("timeout-minutes", 0) <= MINUTES:
        yield f"timeout-minutes: {job.get('timeout-minutes')}"
    permissions = job.get("permissions", {})
    for kind, level in permissions.items():
        if level != "read" and kind not in may_write:
            yield f"{kind}: {level}"
    for step in job["steps"]:
        action, settings = step.get("uses", ""), step.get("with", {})
        if action and not action.startswith("actions/"):  # GitHub's own
            yield action
        if "cache" in settings or action.startswith("actions/cache"):
            yield "a cache, which a pull request could fill"
        if "ref" in settings:
            yield f"ref: {settings['ref']}"
        if "write" in permissions.values() and "run" in step:
            yield f"a job that may write runs {step['run']}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_safe(path: Path) -> None:
    assert faults(path.read_text("utf-8"), path.name) == []


def test_the_workflows_are_there() -> None:
    names = {path.name for path in WORKFLOWS}
    assert names == {"test.yml", "preview.yml", "pages.yml"}


def test_nothing_is_published_before_its_tests() -> None:
    text = (FOLDER / "pages.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    runs = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert runs == ["make test", "make build"]
    assert jobs["deploy"]["needs"] == "build"


def test_the_slow_tests_are_shared_out_whole() -> None:
    """Each folder that has a job of its own is left out of the job of the rest."""
    text = (FOLDER / "test.yml").read_text("utf-8")
    *own, rest = yaml.safe_load(text)["jobs"]["slow"]["strategy"]["matrix"]["part"]
    folders = [folder for part in own for folder in part.split()]
    assert rest.split() == ["tests", *(f"--ignore={folder}" for folder in folders)]
    assert all((ROOT / folder).is_dir() for folder in folders)


FAULTS = {
    "pull_request_target": ("  pull_request:", "  pull_request_target:"),
    "contents: write": ("contents: read", "contents: write"),
    "id-token: write": ("contents: read", "id-token: write"),
    "timeout-minutes: None": ("    timeout-minutes: 5\n", ""),
    "timeout-minutes: 600": ("minutes: 5", "minutes: 600"),
    "somebody/checkout@v1": ("actions/checkout@", "somebody/checkout@v1 # "),
    "ref: main": ("persist-credentials: false", "ref: main"),
    "a cache, which": ("persist-credentials: false", "cache: pip"),
    "secrets": ("make test", "make test TOKEN=${{ secrets.TOKEN }}"),
    "a job that may write runs make test": ("contents: read", "issues: write"),
}


@pytest.mark.parametrize("found", FAULTS)
def test_a_planted_fault_is_found(found: str) -> None:
    sound, fault = FAULTS[found]
    assert SOUND.count(sound) == 1
    assert any(told.startswith(found) for told in faults(SOUND.replace(sound, fault)))
