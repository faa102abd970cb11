"""Hostile blocks: each is named by file, line and remedy, and gains nothing.

Where a rule of Python's own stands before that of the kernel, the attack goes past
Python, through the C library.
"""

import errno
import json
import math
import mmap
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from site_tools.confinement import kernel, limits
from site_tools.confinement.calls import filters_calls
from site_tools.confinement.files import landlock, reach
from site_tools.confinement.guard import Guard
from site_tools.confinement.limits import resident
from site_tools.judge.all import check_run
from site_tools.judge.outputs import check_block
from site_tools.messages import Problem
from site_tools.run import results
from site_tools.run.execution import run_page
from site_tools.run.results import PageToRun, Result, Source
from site_tools.run.worker import ALLOWED, Running
from tests.site.sample import broken, line_of, page

PATH = "docs/en/alignment/sample.md"
C = "import ctypes, os; c = ctypes.CDLL(None, use_errno=True);"
needs_calls = pytest.mark.skipif(not filters_calls(), reason="no seccomp here")
needs_files = pytest.mark.skipif(not landlock(), reason="no Landlock here")


def attack(code: str, seconds: float = 60) -> Problem:
    """What is said of the sample page with these lines in its first block."""
    text = broken("total = 1 + 1", f"{code}\ntotal = 2")
    verified = run_page(page(text), seconds)
    problem = check_block(verified, verified.running[0])
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
    "c.ioctl(1, 0x401c5820, None)": 1,
    "c.ioctl(1, 0x40087602, None)": 1,
    "c.syscall(469, -100, b'.', None, 24, 0)": 1,  # file_setattr: the same by its path
    "c.fcntl(1, 1024, 1)": 1,  # others wait to open it: F_SETLEASE
    "c.fcntl(1, 1026, 1)": 1,  # what others do in a folder: F_NOTIFY
    "c.flock(1, 2)": 1,  # others wait for it
    "c.syscall(436, 900, 900, 2)": 1,  # files that no watch counts
    "c.mmap(None, 4096, 3, 0x21, -1, 0)": 1,  # memory that no limit counts
    "c.inotify_add_watch(0, b'/', 0x100)": 1,  # what others make, named as they do
    "c.fanotify_init(0x200, 0)": 1,
    "c.prctl(1, 0, 0, 0, 0)": 1,  # to outlive the watcher
}


@needs_calls
def test_the_calls_that_lead_out_are_refused():
    rows = [f"print({call}, ctypes.get_errno())" for call in REFUSED]
    codes = printed("\n".join([C, *rows])).splitlines()
    assert dict(zip(REFUSED, codes, strict=True)) == {
        call: f"-1 {code}" for call, code in REFUSED.items()
    }


# What the process that watches a block would be slowed by, or be seen through.
UNWATCHED = {
    "c.setpriority(0, os.getppid(), 19)": "os.getpriority(0, 0)",
    "c.setpriority(2, 0, c.getpriority(0, 0))": "1",  # all of this user
    "c.sched_setscheduler(os.getppid(), 5, bytes(4))": "os.sched_getscheduler(0)",
    "c.sched_setparam(os.getppid(), bytes(4))": "os.sched_getparam(0).sched_priority",
    "c.syscall(SETATTR, os.getppid(), IDLE, 0)": "os.sched_getscheduler(0)",
    "c.sched_setaffinity(os.getppid(), 8, ONE)": "len(os.sched_getaffinity(0))",
    "c.syscall(IOPRIO, 1, os.getppid(), 3 << 13)": "c.syscall(IOPRIO + 1, 1, 0)",
    "c.syscall(IOPRIO, 3, os.getuid(), 0)": "c.syscall(IOPRIO + 1, 1, 0)",
}
ORDINARY = """
import ctypes, json, os, struct, sys, tempfile
from site_tools.confinement.confine import confine
from site_tools.confinement.limits import stored
from site_tools.run.worker import new_folder

if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
"""
SLOWED = """
c = ctypes.CDLL(None, use_errno=True)
SETATTR, IOPRIO = {"x86_64": (314, 251), "aarch64": (274, 30)}[os.uname().machine]
ONE, IDLE = (1).to_bytes(8, "little"), struct.pack("=IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0)
calls = json.loads(sys.argv[1])
before = [eval(state) for state in calls.values()]
with tempfile.TemporaryDirectory() as folder:
    reading, writing = os.pipe()
    if os.fork() == 0:
        confine(folder)
        said = [(eval(call), ctypes.get_errno()) for call in calls]
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as results:
        said = json.load(results)
    os.wait()
print(json.dumps([said, before, [eval(state) for state in calls.values()]]))
"""


def as_ordinary_user(code: str, given: object) -> Any:
    """What code prints that runs without the rights of a root."""
    command = [sys.executable, "-c", ORDINARY + code, json.dumps(given)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


@needs_calls
def test_an_ordinary_users_block_does_not_slow_its_watcher():
    """Root cannot see it: confined, it has lost the right to touch another process."""
    said, before, after = as_ordinary_user(SLOWED, UNWATCHED)
    refused = [[-1, errno.EPERM]] * len(UNWATCHED)
    assert dict(zip(UNWATCHED, said, strict=True)) == dict(
        zip(UNWATCHED, refused, strict=True)
    )
    assert after == before


def test_a_block_may_slow_itself():
    code = f"""{C}
print(c.setpriority(0, 0, 19), os.nice(0), c.sched_setscheduler(0, 5, bytes(4)))
print(c.sched_setaffinity(0, 8, (1).to_bytes(8, "little")))"""
    assert printed(code).split() == ["0", "19", "0", "0"]


@pytest.mark.skipif(sys.platform != "linux", reason="no capabilities here")
def test_of_a_roots_rights_at_most_that_to_read_is_left():
    code = """with open('/proc/self/status') as rows:
    print(*(row for row in rows if row[:6] in ('CapInh', 'CapPrm', 'CapEff')))"""
    rights = [int(row.split()[1], 16) for row in printed(code).splitlines()]
    read_search = 1 << 2  # CAP_DAC_READ_SEARCH, from linux/capability.h
    assert len(rights) == 3 and {*rights} <= {0, read_search}


def test_a_block_does_not_run_with_rights_that_it_could_not_give_up(monkeypatch):
    refusing = SimpleNamespace(capset=lambda *_: -1, capget=lambda *_: 0)
    monkeypatch.setattr(kernel, "system", lambda: refusing)
    with pytest.raises(OSError, match="the kernel did not take: "):
        kernel.drop_rights()


@pytest.mark.parametrize("name", ["canary", "made.pth"])
def test_no_process_opens_what_a_block_has_left(tmp_path, name):
    """A process has all rights of the contributor until it is confined."""
    (tmp_path / "canary").write_text("as it was")
    before = state(tmp_path / "canary")
    link = f"""import os
if os.path.lexists("past.txt"): os.remove("past.txt")
os.symlink({str(tmp_path / name)!r}, "past.txt")"""
    writes = "import os\nos.write(1, b'import os')"
    Running(PageToRun([Source(link), Source("1 + 1"), Source(writes)])).wait()
    assert os.listdir(tmp_path) == ["canary"]
    assert state(tmp_path / "canary") == before


def test_blocks_that_run_alone_share_no_file():
    where = "import os\nprint(os.getcwd(), os.listdir())\n"
    first = Source(where + "open('left', 'w').close()")
    third = Source("print(os.path.exists('left'))", continues=True)
    third = replace(third, copied=f"{first.text}\n{third.text}")
    run = Running(PageToRun([first, Source(where), third])).wait()
    told = [copy.printed.split() for copy in run.copies]
    assert [folder for _, folder, *_ in told[:2]] == ["[]", "[]"]
    assert told[0][0] != told[1][0]
    assert run.copies[2].printed.endswith("True\n")  # as the text that is copied
    assert not any(Path(folder).exists() for folder, *_ in told[:2])


SWAPS = """
import os
print(flush=True)
while True:
    for old, new in (("d", "t"), ("l", "d"), ("d", "l"), ("t", "d")):
        os.rename(old, new)
"""


def test_the_look_at_files_is_led_nowhere_else(tmp_path):
    """Between two steps of the look a folder can become a link."""
    own, away = tmp_path / "own", tmp_path / "away"
    (own / "d").mkdir(parents=True)
    away.mkdir()
    (away / "large").write_bytes(bytes(1 << 20))
    (own / "l").symlink_to(away)
    command = [sys.executable, "-c", SWAPS]
    with subprocess.Popen(command, cwd=own, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        looks = [limits.stored(str(own), process.pid) for _ in range(2000)]
        process.kill()
    assert max(looks) < 1 << 20


HIDES = """
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(f"{folder}/hidden", 0o300)
    open(f"{folder}/hidden/file", "w").close()
    print(json.dumps(stored(folder, os.getpid())))
    os.chmod(f"{folder}/hidden", 0o700)
"""


def test_a_folder_that_nobody_can_look_into_is_too_much():
    assert as_ordinary_user(HIDES, None) == math.inf


def test_output_without_end_is_stopped_at_its_amount():
    problem = attack("while True: print('x' * 1000)")
    assert problem.found == "OutputLimit: stopped after printing 1 MiB"
    assert problem.fix == "print less; readers see every line"
    code = """while True:
    try: print('x' * 1000)
    except Exception: pass"""
    assert attack(code, 3).found == (
        "TimeLimit: a timeout: this block ran longer than 3 s, and was stopped"
    )
    past_print = attack("import os\nwhile True: os.write(1, bytes(65536))")
    assert past_print.found == "FileLimit: stopped at 64 MiB of files"


SPARSE = """import mmap
held = mmap.mmap(-1, 32 << 30, mmap.MAP_PRIVATE, mmap.PROT_READ)
for at in range(0, len(held), 2 << 20):
    held[at]
print(flush=True)
input()"""


@pytest.mark.skipif(sys.platform != "linux", reason="no page tables told here")
def test_page_tables_count_as_memory():
    """A page that is read in each 2 MiB: a table of 4 KiB, and no data of the block."""
    ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SPARSE], **ends) as process:
        process.stdout.readline()
        pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
        held, counted = pages * mmap.PAGESIZE, resident(process.pid)
        process.communicate(b"\n")
    tables = (32 << 30) // (2 << 20) * 4096
    assert held + tables <= counted < held + tables + (16 << 20)


def test_a_file_that_is_removed_and_held_open_counts():
    code = """import os, itertools, time
held = []
for n in itertools.count():
    held.append(open(str(n), "wb")); os.remove(str(n))
    held[-1].write(bytes(32 << 20)); held[-1].flush(); time.sleep(0.05)"""
    assert attack(code).found.startswith("FileLimit: ")


LEFT_BEHIND = """
with new_folder() as folder:
    os.makedirs(f"{folder}/a/b")
    os.chmod(f"{folder}/a", 0)
print(json.dumps(os.path.exists(folder)))
"""


def test_nothing_is_left_of_a_folder_that_nobody_can_look_into():
    assert as_ordinary_user(LEFT_BEHIND, None) is False


def test_nothing_is_left_of_folders_in_folders():
    where = Source("import os; print(os.getcwd())")
    deep = Source("while True: os.mkdir('d' * 99); os.chdir('d' * 99)", continues=True)
    deep = replace(deep, copied=f"{where.text}\n{deep.text}")
    first, second = Running(PageToRun([where, deep])).wait().copies
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
    "line", ['{"printed": "", "failure": null, "plots": []}', "3", "null"]
)
def test_a_forged_result_is_not_taken_for_another_kind(line):
    """It moves all that follow by one, until a figure would be what a block did."""
    code = f"import os\nos.write(3, b'{line}\\n')\ntotal = 2"
    verified = run_page(page(broken("total = 1 + 1", code)))
    blocks = [*verified.run.results, *verified.run.copies]
    failures = [*verified.run.values.values(), *(block.failure for block in blocks)]
    assert "NoResult" in [getattr(failure, "type", "") for failure in failures]
    assert check_run(verified)


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
        results.decode(line, Result)


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
        "one_setting_alone = {'ATEN_CPU_CAPABILITY'}\n"
        "print(*sorted({*first, *os.environ} - one_setting_alone))"
    ).split()
    own = {"HOME", "TMPDIR", "USER", "PYTHONPATH", "OMP_NUM_THREADS"}
    own.add("TORCHINDUCTOR_CACHE_DIR")  # set by torch itself
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert [n for n in names if n not in {*ALLOWED, *own} and n[:3] != "LC_"] == []


@needs_files
@pytest.mark.parametrize("past_python", [False, True])
def test_nothing_of_another_process_or_the_machine_is_read(tmp_path, past_python):
    secret = tmp_path / "secret"
    secret.write_text("token")
    others = Path(f"/proc/{os.getpid()}/environ"), Path("/etc/shadow")
    who, connected = Path("/etc/passwd"), Path("/proc/self/net/tcp")
    for path in (secret, *others, who, connected, Path("/proc/self/mountinfo")):
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
