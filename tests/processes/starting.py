"""Groups of processes as torchrun begins them, without a fixed port."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


def started(*module: Any, processes: int = 2) -> subprocess.Popen[str]:
    """As ``torchrun --nproc-per-node=2 -m``, in the repository."""
    asked = [*TORCHRUN, f"--nproc-per-node={processes}", "-m", *map(str, module)]
    return subprocess.Popen(
        asked,
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit code, and what it and its processes said; a hang is ended."""
    try:
        out, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    return process.returncode, out, errors


class Child(NamedTuple):
    """One of the processes that torchrun has begun."""

    pid: int

    def send_signal(self, number: int) -> None:
        """Let it have a signal, alone."""
        os.kill(self.pid, number)


def children(process: subprocess.Popen[str]) -> dict[int, Child]:
    """The processes of a group by rank."""
    told = ["ps", "-o", "pid=", "--ppid", str(process.pid)]
    done = subprocess.run(told, capture_output=True, text=True, check=True)
    found = {}
    for pid in map(int, done.stdout.split()):
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        ranks = [x for x in environment if x.startswith(b"RANK=")]
        found |= {int(rank[len(b"RANK=") :]): Child(pid) for rank in ranks}
    return found
