"""Note a run on a GPU: make record, on a machine that has one.

The pages and the package run on the GPU; where all of it passes, docs/verified/gpu.yml
says on what, when and from which commit, for readers without one.
"""

import os
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

import yaml

from site_tools.ledger import store
from site_tools.run.execution import CPU, device_type
from site_tools.source.files import page_ids
from tests.devices import device_name, refuse

RECORD = "docs/verified/gpu.yml"
JUDGES = ["docs", "tests/test_devices.py"]


def git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"make record needs the commit of the sources: {run.stderr.strip()}")
    return run.stdout.strip()


def clean_commit(root: Path) -> str:
    """The commit that the folder holds, to the letter; SystemExit if it differs."""
    if changed := git(root, "status", "--porcelain").splitlines():
        sys.exit(
            "make record needs all sources committed, so that the commit says what "
            f"ran; commit or remove {', '.join(line.split()[-1] for line in changed)}"
        )
    return git(root, "rev-parse", "HEAD")


def run(root: Path, device: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", *JUDGES, "--device", device]
    if code := subprocess.run(command, cwd=root).returncode:
        sys.exit(code)


def record(root: Path, device: str, name: str) -> None:
    """Run the pages on a device, and note it with the commit if all of them pass."""
    commit = clean_commit(root)
    run(root, device)
    made = {
        "device": name,
        "torch": version("torch"),
        "date": date.today().isoformat(),
        "commit": commit,
        "pages": len(page_ids(root)),
    }
    store(root / RECORD, yaml.safe_dump(made, sort_keys=False).encode())
    print(f"{RECORD}: {name}, torch {made['torch']}; now commit it")


def main() -> None:
    device = os.environ.get("DEVICE") or "cuda"
    refusal = refuse(device)
    if refusal or device_type(device) == CPU:
        sys.exit(f"make record: {refusal or 'it is for a GPU, got DEVICE=' + device}")
    record(Path.cwd(), device, device_name(device))


if __name__ == "__main__":
    main()
