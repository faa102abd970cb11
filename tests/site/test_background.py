"""Behind the live server: marks appear, failures are told, nothing outlives it."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from site_tools.running.background import one_line, stale, verify
from site_tools.running.evidence import Setting, setting
from tests.site import trial_site
from tests.site.test_serve import Live, wait

PAGE = trial_site.RUN_PAGE
ADDRESS = "/en/alignment/run/"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


def running_blocks(server: int) -> list[int]:
    """The processes below a server that are in the folder of a page."""
    parents, found = {}, []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # gone since
            fields = file.read_text().rpartition(")")[2].split()
            pid = int(file.parent.name)
            parents[pid] = int(fields[1])
            if fields[0] == "R" and "/page-" in os.readlink(file.with_name("cwd")):
                found.append(pid)
    return [pid for pid in found if server in lineage(pid, parents)]


def lineage(pid: int, parents: dict[int, int]) -> list[int]:
    line = [pid]
    while line[-1] in parents:
        line.append(parents[line[-1]])
    return line


def project(root: Path) -> Path:
    trial_site.write(root)
    trial_site.write_running_page(root)
    return root


def edit(root: Path, old: str, new: str) -> None:
    text = (root / PAGE).read_text("utf-8")
    assert old in text
    (root / PAGE).write_text(text.replace(old, new), "utf-8")


def test_a_page_is_stale_until_it_passes_and_when_it_changes(tmp_path):
    root = project(tmp_path)
    here = setting(root)
    assert stale(root, here) == [PAGE]
    assert verify(root, PAGE, here) == (2, []) and stale(root, here) == []
    assert stale(root, Setting("other", here.torch, here.python)) == [PAGE]
    edit(root, "## Yes", "## Yes, it does")
    assert stale(root, here) == []
    edit(root, "x == 1", "x == 2")
    _, (problem,) = verify(root, PAGE, here)
    assert one_line(problem) == (
        f"{PAGE}:21: AssertionError: assert x == 2; expected: a block that runs as "
        "pasted"
    )
    assert stale(root, here) == [PAGE]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path)


@pytest.fixture
def live(root: Path) -> Iterator[Live]:
    site = Live(root)
    yield site
    site.process.kill()
    site.process.communicate()


@pytest.mark.slow
def test_the_site_is_there_at_once_and_its_marks_follow(live):
    # No answer yet is older than the page: nothing was verified when it was built.
    assert "verif" not in live.told
    told = live.read_until("verified 2 blocks")
    assert "verifying 1 page ..." in told
    live.read_until("zh: built in")  # both languages are, since marks are in both
    live.read_until("en: built in")
    assert live.shows(ADDRESS, ">verified · torch")
    assert "not verified here" not in live.get(ADDRESS)
    live.edit(PAGE, "x == 1", "x == 2")
    assert live.shows(ADDRESS, ">not verified here<")
    told = live.read_until("1 failed")
    assert f"  {PAGE}:21: AssertionError" in told
    live.edit(PAGE, "x == 2", "x > 0")
    live.read_until("verified 2 blocks")
    assert wait(lambda: "not verified here" not in live.get(ADDRESS))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to ask")
def test_nothing_outlives_the_server(root):
    edit(root, "x = 1\n", "while True: pass\n")
    site = Live(root)
    blocks: list[int] = []  # seen once is enough: a busy machine lets it wait again

    def runs() -> bool:
        blocks.extend(running_blocks(site.process.pid))
        return bool(blocks)

    try:
        # What runs behind the reader is the last to get the processor.
        assert wait(runs, seconds=90)
        assert alive(blocks[0])
    finally:
        site.process.kill()
        told, _ = site.process.communicate()  # waits for all that can write
    assert not re.search("TimeLimit|Traceback|Fatal", told)
    assert wait(lambda: not alive(blocks[0]))
