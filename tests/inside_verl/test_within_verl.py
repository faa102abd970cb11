"""ppo_ref inside verl 0.9.1, really installed: see within/ for what runs there.

A process of the Python of .cache/verl runs them; this tree comes first on its
path, and its home is a folder of its own, for what Ray writes there.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.layout import ROOT

PYTHON = ROOT / ".cache/verl/bin/python"
WITHIN = Path("tests/inside_verl/within")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / ".cache/verl/.ready").exists(),
        reason="no verl in .cache/verl; `make tools` makes it",
    ),
]


# To import verl takes half a minute.
@pytest.mark.parametrize("name", ["dispatch", "ray"])
def test_within(name, tmp_path):
    variables = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    variables |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    # By default the processes of Ray give way to all others; on a busy machine they
    # would never come to an end.
    variables |= {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [str(PYTHON), "-m", "pytest", "-q", str(WITHIN / f"check_{name}.py")],
        cwd=ROOT,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and " skipped" not in done.stdout
