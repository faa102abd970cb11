"""Hostile blocks: each is named by file, line and remedy, and gains nothing.

Where a rule of Python's own stands before that of the kernel, the attack goes past
Python, through the C library.
"""

import os
from pathlib import Path

import pytest

from site_tools.confinement import Guard, filters_calls, landlock, reach
from site_tools.running import results, verdict
from site_tools.running.results import PageToRun, Source
from site_tools.running.worker import ALLOWED, Running
from site_tools.say import Problem
from tests.site.sample import broken, line_of, page

PATH = "docs/en/alignment/sample.md"
C = "import ctypes, os; c = ctypes.CDLL(None, use_errno=True);"
needs_calls = pytest.mark.skipif(not filters_calls(), reason="no seccomp here")
needs_files = pytest.mark.skipif(not landlock(), reason="no Landlock here")


def attack(code: str, seconds: float = 60) -> Problem:
    """What is said of the sample page with these lines in its first block."""
    text = broken("total = 1 + 1", f"{code}\ntotal = 2")
    verified = verdict.run(page(text), seconds)
    problem = verdict.check_block(verified, verified.running[0])
    assert problem is not None
    at = [line_of(line, text) for line in (code.splitlines()[0], "```python\n")]
    assert problem.path == PATH
    assert min(at) <= problem.line <= line_of("total = 2", text)
    return problem


def printed(code: str) -> str:
    """What a block prints that nothing keeps from running."""
    (result,) = Running(PageToRun([Source(code)])).wait().results
    assert result.failure is None, result.failure
    return result.printed.strip()


REFUSED = {
    "c.socket(2, 1, 0)": 1,
    "c.fork()": 1,
    "c.vfork()": 1,
    "c.execv(b'/bin/true', None)": 1,
    "c.syscall(435, None, 0)": 38,  # clone3: as if there were none
    "c.syscall(425, 1, None)": 1,  # io_uring
    "c.ptrace(16, os.getppid(), 0, 0)": 1,
    "c.kill(os.getppid(), 0)": 1,
    "c.socketpair(1, 2, 0, (ctypes.c_int * 2)())": 1,  # may be sent anywhere
    "c.chmod(b'.', 0)": 1,
    "c.shmget(0, 4096, 0o1600)": 1,
    "c.fcntl(1, 8, os.getppid())": 1,  # who is signalled: F_SETOWN
    "c.fcntl(1, 10, 9)": 1,  # and how: F_SETSIG
    "c.ioctl(1, 0x40086602, None)": 1,  # flags of a file that is only read
    "c.mmap(None, 4096, 3, 0x21, -1, 0)": 1,  # memory that no limit counts
}


@needs_calls
def test_the_calls_that_lead_out_are_refused():
    rows = [f"print({call}, ctypes.get_errno())" for call in REFUSED]
    codes = printed("\n".join([C, *rows])).splitlines()
    assert dict(zip(REFUSED, codes, strict=True)) == {
        call: f"-1 {code}" for call, code in REFUSED.items()
    }


def test_a_file_that_is_removed_and_held_open_counts():
    code = """import os, itertools, time
held = []
for n in itertools.count():
    held.append(open(str(n), "wb")); os.remove(str(n))
    held[-1].write(bytes(32 << 20)); held[-1].flush(); time.sleep(0.05)"""
    assert attack(code).found.startswith("FileLimit: ")


def test_nothing_is_left_of_folders_in_folders():
    where = Source("import os; print(os.getcwd())")
    deep = Source("import os\nwhile True: os.mkdir('d' * 99); os.chdir('d' * 99)")
    first, second = Running(PageToRun([where, deep])).wait().results
    assert second.failure is not None
    folder = Path(first.printed.strip())
    assert folder.is_absolute() and not folder.exists()


def test_memory_without_end_is_refused():
    problem = attack("import torch; x = torch.ones(2 << 30)")
    assert problem.found == "MemoryLimit: the block needs over 4 GiB of memory"
    assert problem.fix == "use smaller tensors; a block has 4 GiB"


def test_what_a_block_forges_is_no_result():
    problem = attack("import os\nos.write(3, b'forged\\n')")
    assert problem.found.startswith("NoResult: a result must be a line of JSON")
    assert problem.fix.startswith("leave the open files of the process alone")


@pytest.mark.parametrize(
    "line",
    [
        b"\x80\x04.",
        b'{"type": "a", "message": "b", "lines": [[-1, 1]]}',
        b'{"type": "a", "message": {"key": "none", "values": {}}, "lines": []}',
        b"[" * 100_000,
    ],
)
def test_a_line_of_another_form_is_refused(line):
    with pytest.raises(ValueError, match="must be a line of JSON"):
        results.decode(line)


def test_a_result_without_end_is_stopped():
    problem = attack("import os\nwhile True: os.write(3, bytes(65536))")
    assert problem.found == "OutputLimit: stopped after a result of 8 MiB"
    assert problem.fix == "print and draw less; readers see every line"


def test_no_token_is_in_reach():
    """``PYTEST_CURRENT_TEST`` stands in: it is there whenever a server starts."""
    names = printed(
        "import os\n"
        "with open('/proc/self/environ') as file:\n"
        "    first = [row.split('=')[0] for row in file.read().split(chr(0)) if row]\n"
        "print(*{*first, *os.environ})"
    ).split()
    own = {"HOME", "TMPDIR", "PYTHONPATH", "OMP_NUM_THREADS"}
    own.add("TORCHINDUCTOR_CACHE_DIR")  # set by torch itself
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert [n for n in names if n not in {*ALLOWED, *own} and n[:3] != "LC_"] == []


@needs_files
@pytest.mark.parametrize("past_python", [False, True])
def test_nothing_of_another_process_or_the_machine_is_read(tmp_path, past_python):
    secret = tmp_path / "secret"
    secret.write_text("token")
    for path in (secret, Path(f"/proc/{os.getpid()}/environ"), Path("/etc/shadow")):
        if past_python:
            name = str(path).encode()
            assert printed(f"{C} print(c.open({name!r}, 0))") == "-1", path
        else:
            problem = attack(f"print(open({str(path)!r}).read())")
            assert problem.found.startswith("PermissionError: [Errno 13]"), path
            assert problem.fix.startswith("use the block's own folder")


def state(file: Path) -> tuple[int, ...]:
    now = file.stat()
    return now.st_mode, now.st_nlink, now.st_size, now.st_mtime_ns, now.st_ino


@needs_files
def test_nothing_outside_is_changed(tmp_path):
    canary = tmp_path / "canary"
    canary.write_text("as it was")
    before, name = state(canary), str(canary).encode()
    calls = [
        f"c.open({name!r}, 1)",
        f"c.open({name!r}, 512)",  # to read, and empty it
        f"c.truncate({name!r}, 0)",
        f"c.unlink({name!r})",
        f"c.rename({name!r}, b'mine')",
        f"c.link({name!r}, b'mine')",
        f"c.chmod({name!r}, 0)",
    ]
    said = printed("\n".join([C, *(f"print({call})" for call in calls)]))
    assert said.split() == ["-1"] * len(calls)
    assert state(canary) == before and canary.read_text() == "as it was"


def test_the_home_of_the_contributor_is_guarded_by_python_too(tmp_path):
    guard = Guard(reach(str(tmp_path / "own")), home=str(tmp_path))
    for event, given in (
        ("open", (str(tmp_path / ".ssh" / "id"), "r", os.O_RDONLY)),
        ("open", (str(tmp_path / "own" / ".." / ".ssh"), "r", os.O_RDONLY)),
        ("os.listdir", (str(tmp_path),)),
        ("os.rename", (str(tmp_path / "own" / "a"), str(tmp_path / "b"))),
    ):
        with pytest.raises(PermissionError, match=r"a block (does not read|writes)"):
            guard(event, given)
    guard("open", (str(tmp_path / "own" / "a"), "w", os.O_WRONLY))
    guard("open", ("/usr/share/x", "r", os.O_RDONLY))


def test_what_blocks_need_they_have():
    code = """
import asyncio, socket, tempfile, threading, torch
from pathlib import Path
started = []
thread = threading.Thread(target=lambda: started.append(1))
thread.start(); thread.join()
async def two(): return 2
torch.save({"a": torch.ones(3)}, "a.pt")
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "b").write_text("3")
model = torch.nn.Linear(3, 1)
best = torch.optim.AdamW(model.parameters())
model(torch.load("a.pt")["a"]).sum().backward(); best.step()
print(started, asyncio.run(two()))
"""
    assert printed(code) == "[1] 2"
