"""Nothing that a page starts outlives its judgement."""

import os
import time
from pathlib import Path

import pytest

from site_tools.running.execution import Running
from site_tools.running.model import Source


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to ask")
def test_a_block_that_hangs_in_a_fork_is_ended_with_its_page(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    hang = f"import os\nopen({str(file)!r}, 'w').write(str(os.getpid()))\nwhile 1: pass"
    sources = [Source("x = 1"), Source(hang)]
    results = Running(sources, [], seed=0, seconds=1).wait().results
    assert results[1].failure is not None
    assert results[1].failure.type == "TimeLimit"
    pid = int(file.read_text())
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)
