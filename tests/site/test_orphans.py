"""Nothing that a page starts outlives its judgement."""

import os
from pathlib import Path

import pytest

from site_tools.running.results import Source
from site_tools.running.worker import Running


def processes(session: int) -> list[str]:
    """The processes of a session that still have memory, by what the kernel says.

    One that ends gives its memory back first and closes its files next, which is what
    the results wait for; its entry goes some microseconds later.
    """
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # gone since
            continue
        if int(fields[3]) == session and int(fields[20]) > 0:
            found.append(file.parent.name)
    return found


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to ask")
def test_a_block_that_hangs_is_ended_with_its_page() -> None:
    told = [Source("import os\nprint(os.getsid(0))"), Source("while True: pass")]
    first, second = Running(told, [], seed=0, seconds=1).wait().results
    assert second.failure is not None and second.failure.type == "TimeLimit"
    assert processes(int(first.printed)) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to ask")
def test_the_sign_of_life_is_one() -> None:
    assert str(os.getpid()) in processes(os.getsid(0))
