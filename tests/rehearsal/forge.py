"""A stand-in for GitHub: it reads workflows and runs their steps as a runner would.

An action is a function here, which takes no input but those it knows. A key, an
expression or an event that this module does not know is refused, so that what was never
rehearsed cannot pass for it. What an action may do is judged in tests/contributing.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from tests.layout import ROOT

REPOSITORY = "owner/ppo"
SERVER = "https://github.com"
BASE = "https://owner.github.io/ppo"
TOKEN = "ghs_whoever_reads_this_may_act_for_the_workflow"
RUN = "4711"
MAIN = "refs/heads/main"
JOB = {"name", "if", "needs", "runs-on", "timeout-minutes", "permissions"}
JOB |= {"environment", "steps"}
STEP = {"id", "name", "if", "uses", "with", "run", "env", "continue-on-error"}
HANDED_ON = ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH")
TERM = r"'[^']*'|[a-z_]+(?:\.[\w-]+)+"
EXPRESSION = re.compile(rf"({TERM})(?:\s*([!=]=)\s*({TERM}))?")
# What was downloaded or computed here already; a runner would begin without it.
KEPT = (
    ".cache/katex",
    ".cache/wheels",
    ".cache/verified",
    ".mypy_cache",
    ".ruff_cache",
)
# The environment is that of this project and no copy: nothing may be installed in it.
READY = "import sys; sys.path[0] = 'pins'; import install; exit(not install.is_ready())"
NOTHING_INSTALLED = {"PIP_DRY_RUN": "1", "PIP_NO_INDEX": "1"}
ME = ("-c", "user.name=me", "-c", "user.email=me@example.org")


class Refused(Exception):
    """What GitHub refuses, or what the stand-in does not know."""


class Event(NamedTuple):
    """Why workflows run, and on which commit."""

    name: str
    ref: str
    commit: str


class Job:
    """One job of a workflow as it is said there, on a machine that is a folder."""

    def __init__(
        self, said: dict[str, Any], forge: "Forge", event: Event, folder: Path
    ) -> None:
        self.said, self.forge, self.event = said, forge, event
        self.workspace, self.home = folder / "work", folder / "home"
        self.summary = folder / "summary.md"
        for made in (self.workspace, self.home):
            made.mkdir(parents=True)
        self.failed: list[str] = []
        self.log, self.path = "", "/usr/local/bin:/usr/bin:/bin"
        self.github = {
            "event_name": event.name,
            "ref": event.ref,
            "repository": REPOSITORY,
            "run_id": RUN,
            "server_url": SERVER,
            "sha": event.commit,
        }
        self.contexts: dict[str, Any] = {"github": self.github, "steps": {}}

    def run(self, outer: dict[str, str]) -> None:
        """All steps in order; behind one that failed, none."""
        for step in self.said["steps"]:
            known(step, STEP)
            if not self.wanted(step):
                continue
            name = step.get("name") or step.get("run") or step["uses"]
            self.log += f"\n== {name}\n"
            try:
                if "run" in step:
                    self.shell(step["run"], outer | self.filled(step.get("env", {})))
                else:
                    outputs = self.use(step["uses"], step.get("with", {}))
                    self.contexts["steps"][step.get("id", "")] = {"outputs": outputs}
            except Refused as refusal:
                self.log += f"{refusal}\n"
                if not step.get("continue-on-error"):
                    self.failed.append(name)
                    return

    def wanted(self, said: Mapping[str, Any]) -> bool:
        return "if" not in said or bool(evaluate(said["if"], self.contexts))

    def filled(self, texts: Mapping[str, Any]) -> dict[str, str]:
        return {name: fill(str(text), self.contexts) for name, text in texts.items()}

    def use(self, action: str, given: Mapping[str, Any]) -> dict[str, str]:
        name = action.partition("@")[0].removeprefix("actions/")
        if name not in ACTIONS:
            raise Refused(f"an action that has no stand-in: {action}")
        inputs = {key.replace("-", "_"): text for key, text in given.items()}
        try:
            return ACTIONS[name](self, **inputs) or {}
        except TypeError as error:
            raise Refused(f"{action}: {error}") from None

    def shell(self, command: str, told: Mapping[str, str]) -> None:
        """A step that runs: with what a runner tells, and nothing of this process."""
        unread = self.home / "handed_on"
        unread.touch()
        environment = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            **dict.fromkeys(HANDED_ON, str(unread)),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self.workspace),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": self.path,
            **{f"GITHUB_{key.upper()}": text for key, text in self.github.items()},
            **NOTHING_INSTALLED,
            **self.forge.told,
            **told,
        }
        run = subprocess.run(
            ["bash", "-e", "-c", fill(command, self.contexts)],
            cwd=self.workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=60 * self.said["timeout-minutes"],
        )
        self.log += run.stdout
        if unread.stat().st_size:
            raise Refused(f"hands on what the stand-in does not read: {command}")
        if run.returncode:
            raise Refused(f"ended with {run.returncode}: {command}")


# The actions.


def checkout(job: Job, persist_credentials: bool = True, fetch_depth: int = 1) -> None:
    """The commit alone, with the token unless told otherwise; or every branch."""
    git = partial(run, "git", "-C", job.workspace)
    git("init", "-q", "-b", "unused")
    git("remote", "add", "origin", job.forge.remote.as_uri())
    branches = ["+refs/heads/*:refs/remotes/origin/*"] * (fetch_depth == 0)
    depth = [f"--depth={fetch_depth}"] * bool(fetch_depth)
    place = job.event.ref.replace("refs/heads", "refs/remotes/origin")
    place = place.replace("refs/pull", "refs/remotes/pull")
    git("fetch", "-q", *depth, "origin", *branches, f"+{job.event.commit}:{place}")
    own = ["-B", "main"] if place.endswith("/main") else ["--detach"]
    git("checkout", "-q", *own, place)
    if persist_credentials:
        git("config", f"http.{SERVER}/.extraheader", f"AUTHORIZATION: basic {TOKEN}")
    # As they lie here, so that what was verified here counts there.
    for file in filter(Path.is_file, job.workspace.rglob("*")):
        here = ROOT / file.relative_to(job.workspace)
        if here.is_file():
            shutil.copystat(here, file)


def setup_python(job: Job, python_version: str) -> None:
    """Python on the path, and what the project would make with it for minutes."""
    tools = job.home / "bin"
    tools.mkdir()
    tools.joinpath("python3").symlink_to(Path(sys.executable).resolve())
    job.path = f"{tools}:{job.path}"
    for name in KEPT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, job.workspace / name)
    venv = job.workspace / ".venv"
    venv.symlink_to((ROOT / ".venv").resolve())
    if subprocess.call([sys.executable, "-c", READY], cwd=job.workspace):
        venv.unlink()
        raise Refused(".venv does not answer to the pins: make ready first")


def configure_pages(job: Job) -> dict[str, str]:
    return {"base_url": BASE, "base_path": urlsplit(BASE).path}


def upload_artifact(
    job: Job, name: str, path: str, retention_days: int = 1, if_no_files_found: str = ""
) -> None:
    """Keep a file, or what a folder holds but for what is hidden."""
    source, target = job.workspace / path, job.forge.artifacts / name
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
    elif source.is_file():
        target.mkdir()
        shutil.copy(source, target)
    elif if_no_files_found != "ignore":  # GitHub may only warn of it
        raise Refused(f"nothing at {path} to keep")


def upload_pages_artifact(job: Job, path: str = "_site/") -> None:
    upload_artifact(job, "github-pages", path)


def deploy_pages(job: Job) -> dict[str, str]:
    if not (job.forge.artifacts / "github-pages").is_dir():
        raise Refused("no artifact to publish")
    job.forge.site = job.forge.artifacts / "github-pages"
    return {"page_url": f"{BASE}/"}


ACTIONS: dict[str, Callable[..., dict[str, str] | None]] = {
    "checkout": checkout,
    "setup-python": setup_python,
    "configure-pages": configure_pages,
    "upload-artifact": upload_artifact,
    "upload-pages-artifact": upload_pages_artifact,
    "deploy-pages": deploy_pages,
}


# Workflows.


def known(said: Mapping[Any, Any], keys: set[str]) -> None:
    if unknown := said.keys() - keys:
        raise Refused(f"the stand-in does not know {unknown}")


def evaluate(text: str, contexts: Mapping[str, Any]) -> str | bool:
    """A name or a text, or two of them compared; no more is known."""
    found = EXPRESSION.fullmatch(text.strip())
    if not found:
        raise Refused(f"an expression that the stand-in does not know: {text}")
    left, sign, right = found.groups()
    if not sign:
        return term(left, contexts)
    same = term(left, contexts).lower() == term(right, contexts).lower()
    return same == (sign == "==")


def term(text: str, contexts: Mapping[str, Any]) -> str:
    """GitHub takes a name that is not there for an empty text; here only a variable."""
    if text.startswith("'"):
        return text[1:-1]
    if text.startswith("vars."):
        return ""
    value: Any = contexts
    for name in text.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise Refused(f"there is no {text}")
        value = value[name]
    return str(value)


def fill(text: str, contexts: Mapping[str, Any]) -> str:
    """The text with its ``${{ }}`` evaluated."""

    def one(found: re.Match[str]) -> str:
        value = evaluate(found[1], contexts)
        return str(value).lower() if isinstance(value, bool) else value

    return re.sub(r"\$\{\{(.*?)\}\}", one, text)


def answers(workflow: Mapping[Any, Any], event: Event) -> bool:
    """Whether an event starts a workflow."""
    # YAML 1.1 takes the key on for True.
    if event.name not in workflow[True]:
        return False
    filters = workflow[True][event.name] or {}
    known(filters, {"branches"})
    branch = event.ref.removeprefix("refs/heads/")
    return branch in filters.get("branches", [branch])


class Forge:
    """A repository as it stands there, and what its workflows leave behind.

    Its main branch is the project as it lies here, committed or not.

    Args:
        folder: An empty one.
        told: What every step is told besides, which keeps the rehearsal short.
    """

    def __init__(self, folder: Path, told: Mapping[str, str]) -> None:
        self.folder, self.told = folder, dict(told)
        self.remote, self.artifacts = folder / "remote.git", folder / "artifacts"
        self.site: Path | None = None
        folder.mkdir()
        run("git", "init", "-q", "--bare", "-b", "main", self.remote)
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "as it lies here")

    def git(self, *command: str, given: str = "") -> str:
        place = ("--git-dir", self.remote, "--work-tree", ROOT)
        return run("git", *ME, *place, *command, given=given)

    def push(self, changes: Mapping[str, str] | None = None) -> Event:
        """To main, with these files as they are to be."""
        return Event("push", MAIN, self.commit(MAIN, changes or {}))

    def request(self, changes: Mapping[str, str]) -> Event:
        """A pull request, which would be merged as this."""
        ref = "refs/pull/1/merge"
        return Event("pull_request", ref, self.commit(ref, changes))

    def commit(self, ref: str, changes: Mapping[str, str]) -> str:
        self.git("read-tree", "main")
        for path, text in changes.items():
            blob = self.git("hash-object", "-w", "--stdin", given=text)
            self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = self.git("write-tree")
        commit = self.git("commit-tree", tree, "-p", "main", "-m", "as it is to be")
        self.git("update-ref", ref, commit)
        return commit

    def start(self, file: str, event: Event) -> dict[str, Job]:
        """Run the workflow in a file; its jobs, but for those it does not want."""
        text = self.git("show", f"{event.commit}:.github/workflows/{file}")
        workflow = yaml.safe_load(text)
        if not answers(workflow, event):
            raise Refused(f"{file} does not answer to {event.name} at {event.ref}")
        shutil.rmtree(self.artifacts, ignore_errors=True)
        self.artifacts.mkdir()
        jobs: dict[str, Job] = {}
        for name, said in workflow["jobs"].items():
            place = self.folder / f"{event.ref}-{file}-{name}".replace("/", "-")
            job = Job(said, self, event, place)
            if job.wanted(said):
                known(said, JOB)
                needed = said.get("needs")
                if not needed or not jobs[needed].failed:
                    jobs[name] = job
                    job.run(job.filled(workflow.get("env", {})))
        return jobs


def run(*command: str | Path, given: str = "") -> str:
    done = subprocess.run(
        command, input=given, text=True, check=True, stdout=subprocess.PIPE
    )
    return done.stdout.strip()
