"""No workflow gives a pull request anything to gain."""

from pathlib import Path

import pytest
import yaml

from tests.contributing.workflow_rules import problems

FOLDER = Path(__file__).parents[2] / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.iterdir())
SOUND = """name: sound
on:
  pull_request:
permissions: {}
concurrency:
  group: sound
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@0123456789012345678901234567890123456789 # v1.2.3
        with:
          persist-credentials: false
      - run: make test
"""
PINNED = "checkout@0123456789012345678901234567890123456789 # v1.2.3"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_safe(path: Path) -> None:
    assert path.suffix == ".yml"
    assert problems(path.read_text("utf-8"), path.name) == []


def test_the_workflows_are_there() -> None:
    names = {path.name for path in WORKFLOWS}
    assert names == {"test.yml", "preview.yml", "pages.yml", "weekly.yml"}


def test_nothing_is_published_before_its_tests() -> None:
    text = (FOLDER / "pages.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    runs = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert runs == ["make test", "make build"]
    assert jobs["deploy"]["needs"] == "build"


def test_a_sound_workflow_has_no_problem() -> None:
    assert problems(SOUND, "sound.yml") == []


FAULTS = {
    "pull_request_target": ("  pull_request:", "  pull_request_target:", 3),
    "workflow_run": ("  pull_request:", "  workflow_run:", 3),
    "issue_comment": ("  pull_request:", "  issue_comment:", 3),
    "permissions: None": ("permissions: {}\n", "", 1),
    "permissions: write-all": ("permissions: {}", "permissions: write-all", 4),
    "permissions: read-all": (
        "    permissions:\n      contents: read",
        "    permissions: read-all",
        8,
    ),
    "contents: write": ("contents: read", "contents: write", 12),
    "issues: write": ("contents: read", "issues: write", 12),
    "id-token: write": ("contents: read", "id-token: write", 12),
    "timeout-minutes: None": ("    timeout-minutes: 5\n", "", 8),
    "timeout-minutes: 600": ("minutes: 5", "minutes: 600", 8),
    "no concurrency": ("concurrency:\n  group: sound\n", "", 1),
    "actions/checkout@v7": (PINNED, "checkout@v7", 14),
    "actions/checkout@main # v7": (PINNED, "checkout@main # v7", 14),
    "somebody/checkout@" + "0" * 40 + " # v1": (
        f"actions/{PINNED}",
        "somebody/checkout@" + "0" * 40 + " # v1",
        14,
    ),
    "actions/" + PINNED.replace(" # v1.2.3", ""): (" # v1.2.3", "", 14),
    "credentials persist": ("credentials: false", "credentials: true", 14),
    "ref: ${{ github.head_ref }}": (
        "persist-credentials: false",
        "persist-credentials: false\n          ref: ${{ github.head_ref }}",
        17,
    ),
    "a cache (actions/checkout)": (
        "persist-credentials: false",
        "persist-credentials: false\n          cache: pip",
        17,
    ),
    "run: ${{ github.event.pull_request.title }}": (
        "make test",
        'echo "${{ github.event.pull_request.title }}"',
        17,
    ),
    "secrets": ("make test", "make test TOKEN=${{ secrets.TOKEN }}", 17),
}


@pytest.mark.parametrize("found", FAULTS)
def test_a_planted_fault_is_found(found: str) -> None:
    sound, fault, line = FAULTS[found]
    assert SOUND.count(sound) == 1
    told = problems(SOUND.replace(sound, fault), "sound.yml")
    (problem,) = [each for each in told if each.found == found]
    assert problem.path == ".github/workflows/sound.yml"
    assert problem.line == line
    assert problem.expected


def test_a_job_that_may_write_installs_nothing() -> None:
    text = SOUND.replace("contents: read", "issues: write").replace("one:", "issue:")
    (problem,) = problems(text, "weekly.yml")
    assert problem.found == "run: make test"
