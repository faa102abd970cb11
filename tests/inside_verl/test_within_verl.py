"""ppo_ref inside verl 0.9.1, really installed: see within/ for what runs there.

Each file is one process of the Python of .cache/verl; this tree comes first on its
path, and its home is a folder of its own, for what Ray writes there.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".cache/verl/bin/python"
WITHIN = Path("tests/inside_verl/within")
UPSTREAM = "tests/trainer/ppo"  # verl's wheel installs its tests too

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / ".cache/verl/.ready").exists(),
        reason="no verl in .cache/verl; `make tools` makes it",
    ),
]


def run(home: Path, *arguments: str, cwd: Path = ROOT) -> str:
    """What pytest said there, once it passed."""
    told = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    told |= {"HOME": str(home), "PYTHONPATH": str(ROOT)}
    # By default the processes of Ray give way to all others; on a busy machine they
    # would never come to an end.
    told |= {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    command = [str(PYTHON), "-m", "pytest", "-q", *arguments]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=told,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("name", ["dispatch", "page", "ray"])
def test_within(name: str, tmp_path: Path) -> None:
    said = run(tmp_path, str(WITHIN / f"check_{name}.py"))
    assert " passed" in said and " skipped" not in said


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("core_algos", "GAE"),
        ("value_loss_normalization", "the value loss"),
        ("loss_aggregation", None),
        ("reinforce_pp_multiturn", None),
    ],
)
def test_verls_own_tests_pass_with_ours_in_place(
    name: str, ours: str | None, tmp_path: Path
) -> None:
    (packages,) = (ROOT / ".cache/verl/lib").glob("python*/site-packages")
    test = packages / UPSTREAM / f"test_{name}_on_cpu.py"
    settings = ["-c", str(ROOT / WITHIN / "pytest.ini"), "--rootdir", str(packages)]
    options = ["-s", "-p", "ppo_ref.verl_plugin", *settings]
    said = run(tmp_path, *options, str(test), cwd=packages)
    assert " passed" in said
    assert ours is None or said.count(f"ppo_ref computes {ours} (verl 0.9.1)") == 1
