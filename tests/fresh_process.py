"""A reader's machine: the wheel, an empty folder, an interpreter of its own."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check")


def install(wheel: Path | str, target: Path) -> None:
    """Let pip put a wheel, and nothing it needs, into a folder."""
    options = ("--no-deps", "--no-index", "--target", str(target))
    done = subprocess.run([*PIP, *options, str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run(code: str, installed: Path) -> str:
    """What code prints, and the last line of what it raises, in an empty folder."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=empty,
            env=os.environ | {"PYTHONPATH": str(installed), "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
    raised = done.stderr.strip().rpartition("\n")[2] if done.returncode else ""
    lines = f"{done.stdout}{raised}".splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")
