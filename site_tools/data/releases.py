"""The newest releases, and what their wheels hold; none of it is installed or run."""

import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from zipfile import ZipFile

from packaging.version import Version

from site_tools.data.facts import Entry

NEWEST = re.compile(r"(?m)^[\w.-]+ \(([^)\s]+)\)$")
PURE = re.compile(r"^[^/]+\.data/purelib/")  # installed without it
# They are read only, so every machine takes the same files. Those of OpenRLHF and
# TorchRL say they are for one Python on Linux; what is read is Python.
LINUX = ["--platform=manylinux1_x86_64", "--platform=manylinux_2_28_x86_64"]
ANYWHERE = ["--python-version=3.11", *LINUX]


class Wheel:
    """The files of a release, as they are installed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, path: str) -> str | None:
        """The text of a file, or None if there is no such file."""
        name = self._names.get(path)
        if name is None:
            return None
        with ZipFile(self.path) as archive:
            return archive.read(name).decode("utf-8", errors="replace")

    @cached_property
    def _names(self) -> dict[str, str]:
        with ZipFile(self.path) as archive:
            return {PURE.sub("", name): name for name in archive.namelist()}


def newest_pinned(entries: Iterable[Entry]) -> dict[str, str]:
    """Of each project that facts are about, the newest version that they name.

    Example:
        >>> old, new = (Entry(f"verl {v}", "a.py", "1", "") for v in ("0.9.1", "0.10"))
        >>> newest_pinned([new, old])
        {'verl': '0.10'}
    """
    versions: dict[str, str] = {}
    for project, version in (e.release.split(" ") for e in entries if e.checked):
        if Version(version) >= Version(versions.get(project, "0")):
            versions[project] = version
    return versions


def newest(project: str) -> str:
    """The newest version that pip finds.

    Raises:
        ValueError: with what pip said, if it finds none.
    """
    return version_of(_pip("index", "versions", project), project)


def version_of(listing: str, project: str) -> str:
    r"""The newest version in what ``pip index versions`` prints.

    Example:
        >>> version_of("verl (0.9.1)\nAvailable versions: 0.9.1, 0.9.0\n", "verl")
        '0.9.1'
    """
    found = NEWEST.search(listing)
    if found is None:
        raise ValueError(f"{project}: pip must say 'name (version)', said {listing!r}")
    return found[1]


def find(project: str, version: str, folder: Path) -> Wheel | None:
    """The wheel of a release, if the folder has it."""
    name = project.lower().replace("-", "_")  # as in the names of wheels
    path = next(folder.glob(f"{name}-{version}-*.whl"), None)
    return Wheel(path) if path else None


def fetch(project: str, version: str, folder: Path) -> Wheel:
    """The wheel of a release, downloaded unless the folder has it.

    Raises:
        ValueError: with what pip said, if there is none.
    """
    if there := find(project, version, folder):
        return there
    safe = ["--no-deps", "--only-binary=:all:", *ANYWHERE]
    _pip("download", *safe, "--dest", str(folder), f"{project}=={version}")
    if there := find(project, version, folder):
        return there
    raise ValueError(f"{project} {version}: pip brought no wheel of that name")


def _pip(*arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-I", "-m", "pip", *arguments],
        capture_output=True,
        text=True,
        errors="replace",
    )
    if run.returncode:
        said = run.stderr.strip().rpartition("\n")[2]
        raise ValueError(f"pip {' '.join(arguments)}: {said}")
    return run.stdout
