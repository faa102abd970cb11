"""Commit to what a GPU gave: make record, on a machine that has one.

The pages and the package run on the GPU; which blocks passed goes to
docs/verified/cuda.txt, with the commit of the sources, for machines without one.
"""

import os
import subprocess
import sys
from pathlib import Path

from site_tools.ledger import Entry, Ledger, read, write
from site_tools.run import evidence
from site_tools.run.evidence import block_hashes
from site_tools.run.execution import CPU, device_type
from site_tools.say import LANGUAGES
from tests.verified import refuse

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


def left_out(root: Path, ledger: Ledger) -> list[str]:
    """The pages that have a running block which did not pass."""
    pages = [p for at in LANGUAGES for p in sorted((root / "docs" / at).rglob("*.md"))]
    here, names = evidence.setting(root), []
    for page in pages:
        name = page.relative_to(root).as_posix()
        blocks, _ = evidence.blocks_of(root, name, page.read_text("utf-8"))
        if {*block_hashes(blocks).values()} - {*evidence.passed(ledger, name, here)}:
            names.append(name)
    return names


def entry_of(root: Path, page: str, made: Entry, commit: str) -> Entry:
    """A page of the record, by what it was made from and by whom."""
    blocks, _ = evidence.blocks_of(root, page, (root / page).read_text("utf-8"))
    made_from = evidence.recorded(blocks, evidence.setting(root))
    return Entry(made_from, {**made.by, "commit": commit})


def record(root: Path, device: str) -> None:
    """Run the pages on a device, and keep what passed under the commit."""
    commit = clean_commit(root)
    run(root, device)
    ledger = read(root / evidence.local(device_type(device)))
    if pages := left_out(root, ledger):
        sys.exit(f"make record needs every block to run, and these did not: {pages}")
    entries = {
        page: entry_of(root, page, entry, commit) for page, entry in ledger.items()
    }
    write(root / evidence.RECORD, entries)
    by = next(iter(entries.values())).by
    print(f"{evidence.RECORD}: {by['device']}, torch {by['torch']}; now commit it")


def main() -> None:
    device = os.environ.get("DEVICE") or "cuda"
    refusal = refuse(device)
    if refusal or device_type(device) == CPU:
        sys.exit(f"make record: {refusal or 'it is for a GPU, got DEVICE=' + device}")
    record(Path.cwd(), device)


if __name__ == "__main__":
    main()
