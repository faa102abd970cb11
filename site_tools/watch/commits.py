"""Facts about commits that are in no wheel, read again in their repositories."""

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from site_tools.data.facts import Entry
from site_tools.data.places import verify


def problems(entries: Iterable[Entry], base: str, folder: Path) -> Iterator[str]:
    """What is wrong with each of them.

    Args:
        entries: Facts whose release is ``owner/name@commit``.
        base: What stands before ``owner/name`` in the address of a repository.
        folder: Where the repositories are put.
    """
    for entry in entries:
        name, _, commit = entry.release.partition("@")
        try:
            repository = _repository(base, name, folder)
            text = _git(repository, "show", f"{commit}:{entry.path}")
        except ValueError as error:
            yield f"{entry.place}: not read: {error}"
            continue
        if wrong := verify(entry, text):
            yield wrong


def _repository(base: str, name: str, folder: Path) -> Path:
    target = folder / name.replace("/", "+")
    if not target.exists():
        # Every commit, and of the files only those that are asked for.
        clone = ["clone", "--quiet", "--bare", "--filter=blob:none"]
        _git(None, *clone, f"{base.rstrip('/')}/{name}", str(target))
    return target


def _git(repository: Path | None, *arguments: str) -> str:
    place = ["-C", str(repository)] if repository else []
    run = subprocess.run(["git", *place, *arguments], capture_output=True)
    if run.returncode:
        said = run.stderr.decode("utf-8", errors="replace").strip()
        raise ValueError(said.rpartition("\n")[2])
    return run.stdout.decode("utf-8", errors="replace")
