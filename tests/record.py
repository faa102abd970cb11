"""Commit to what a GPU gave: make record, on a machine that has one.

The pages and the package run on the GPU; which blocks passed goes to
docs/verified/cuda.json, with the commit of the sources, for machines without one.
"""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from site_tools.page.page import LANGUAGES
from site_tools.running.devices import CPU, kind
from site_tools.running.evidence import blocks_of
from site_tools.running.hashes import block_hashes
from site_tools.running.manifest import Manifest
from site_tools.running.manifest_files import RECORD, load, local, save
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


def left_out(root: Path, made: Manifest) -> list[str]:
    """The pages that have a running block which did not run."""
    pages = [p for at in LANGUAGES for p in sorted((root / "docs" / at).rglob("*.md"))]
    found = []
    for page in pages:
        name = page.relative_to(root).as_posix()
        hashes = block_hashes(blocks_of(root, name, page.read_text("utf-8"))[0])
        if not made.passed.get(name, frozenset()).issuperset(hashes.values()):
            found.append(name)
    return found


def record(root: Path, device: str) -> None:
    """Run the pages on a device, and keep what passed under the commit."""
    commit = clean_commit(root)
    run(root, device)
    made = load(root, local(kind(device)))
    if made is None or left_out(root, made):
        pages = left_out(root, made) if made else "all pages"
        sys.exit(f"make record needs every block to run, and these did not: {pages}")
    save(root, RECORD, replace(made, commit=commit, failed={}))
    print(f"{RECORD}: {made.device}, torch {made.setting.torch}; now commit it")


def main() -> None:
    device = os.environ.get("DEVICE") or "cuda"
    refusal = refuse(device)
    if refusal or kind(device) == CPU:
        sys.exit(f"make record: {refusal or 'it is for a GPU, got DEVICE=' + device}")
    record(Path.cwd(), device)


if __name__ == "__main__":
    main()
