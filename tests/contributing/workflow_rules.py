"""What no workflow may do, so that a hostile pull request gains nothing."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from site_tools.problems import Problem

EVENTS = {"pull_request", "push", "schedule", "workflow_dispatch"}
# Only actions of GitHub itself: what else is run comes from the project.
PINNED = re.compile(r"actions/[\w-]+@[0-9a-f]{40} # v\d+(\.\d+)*$")
USES = re.compile(r"^\s*(?:- )?uses: (.*)$")
EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
SECRET = re.compile(r"\bsecrets\b")
CACHES = ("actions/cache", "actions/cache/restore", "actions/cache/save")
# Each kind of permission to write, and the one job that has it.
WRITERS = {
    "pages": {("pages.yml", "deploy")},
    "id-token": {("pages.yml", "deploy")},
    "issues": {("weekly.yml", "issue")},
}
MINUTES = 120


def problems(text: str, name: str) -> list[Problem]:
    """Everything that is wrong with a workflow.

    Args:
        text: Its YAML.
        name: The name of its file.
    """
    rows = [*_lines(text), *_workflow(yaml.safe_load(text), name)]
    path, lines = f".github/workflows/{name}", text.split("\n")
    return [
        Problem(path, _line(lines, key), found, expected, "see .github/SECURITY.md")
        for key, found, expected in rows
    ]


def _line(lines: list[str], key: str) -> int:
    return next((n for n, line in enumerate(lines, 1) if key in line), 1)


Row = tuple[str, str, str]  # what its line contains, what was found, what must hold


def _lines(text: str) -> Iterator[Row]:
    for line in text.split("\n"):
        used = USES.match(line)
        if used and not PINNED.match(used[1]):
            yield used[1], used[1], "actions/<name>@<40 hex digits> # v<version>"
        if SECRET.search(line.partition("#")[0]):
            yield line.strip(), "secrets", "no secret, so that none can be read"


def _workflow(workflow: Any, name: str) -> Iterator[Row]:
    # YAML 1.1 takes the key on for True.
    events = workflow.get(True, workflow.get("on")) or {}
    for event in {events} if isinstance(events, str) else set(events):
        if event not in EVENTS:
            yield event, event, f"one of {', '.join(sorted(EVENTS))}"
    if workflow.get("permissions") != {}:
        found = f"permissions: {workflow.get('permissions')}"
        key = "permissions" if "permissions" in workflow else "name:"
        yield key, found, "permissions: {} at the top"
    if not (workflow.get("concurrency") or {}).get("group"):
        yield "name:", "no concurrency", "concurrency with a group"
    for job, given in workflow["jobs"].items():
        yield from _job(f"  {job}:", job, given, name)


def _job(key: str, job: str, given: Any, name: str) -> Iterator[Row]:
    if not 0 < given.get("timeout-minutes", 0) <= MINUTES:
        found = f"timeout-minutes: {given.get('timeout-minutes')}"
        yield key, found, f"timeout-minutes, at most {MINUTES}"
    permissions = given.get("permissions")
    if not isinstance(permissions, dict):
        yield key, f"permissions: {permissions}", "each permission of the job by name"
        permissions = {}
    for kind, level in permissions.items():
        if level != "read" and (name, job) not in WRITERS.get(kind, ()):
            yield f"{kind}: {level}", f"{kind}: {level}", f"{kind}: read, or not at all"
    steps = given.get("steps", [])
    writes = "write" in permissions.values()
    for step in steps:
        yield from _step(step, writes=writes)


def _step(step: Any, *, writes: bool) -> Iterator[Row]:
    action = step.get("uses", "").partition("@")[0]
    settings = step.get("with") or {}
    if (
        action == "actions/checkout"
        and settings.get("persist-credentials") is not False
    ):
        yield "actions/checkout", "credentials persist", "persist-credentials: false"
    if action == "actions/checkout" and "ref" in settings:
        yield "ref:", f"ref: {settings['ref']}", "the commit that started the run"
    if action in CACHES or "cache" in settings:
        yield "cache", f"a cache ({action})", "no cache: a pull request could fill it"
    for expression in EXPRESSION.findall(step.get("run", "")):
        expected = (
            "a variable of env, in quotes: an expression is pasted into the shell"
        )
        yield expression, f"run: {expression}", expected
    if writes and re.search(r"\b(make|pip|npm|pytest)\b", step.get("run", "")):
        expected = "a job that may write installs and builds nothing"
        yield step["run"].split("\n")[0], f"run: {step['run'].strip()}", expected
