"""A reader's machine: the wheel, an empty folder, a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PIP = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check")
# Imports torch once, then runs each text in a fork of its own, as a script.
EACH = """
import json, os, sys, traceback
import torch, torch._dynamo  # seconds each, at the first optimizer the latter
torch.set_num_threads(1)
for text in json.load(sys.stdin):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.dup2(writing, 1)
        try:
            exec(compile(text, "copied", "exec"), {"__name__": "__main__"})
        except BaseException as error:
            sys.stdout.write(traceback.format_exception_only(error)[-1])
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as said:
        print(json.dumps(said.read()), flush=True)
    os.wait()
"""


def install(wheel: Path | str, target: Path) -> None:
    """Let pip put a wheel, and nothing it needs, into a folder."""
    options = ("--no-deps", "--no-index", "--target", str(target))
    done = subprocess.run([*PIP, *options, str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run_each(texts: list[str], installed: Path) -> list[str]:
    """The output of each text in an empty folder, and the last line of an error."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, "-c", EACH],
            cwd=empty,
            env=os.environ | {"PYTHONPATH": str(installed), "PYTHONUTF8": "1"},
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
    assert done.returncode == 0, done.stderr
    outputs = [json.loads(line).splitlines() for line in done.stdout.splitlines()]
    return ["\n".join(map(str.rstrip, output)).strip("\n") for output in outputs]
