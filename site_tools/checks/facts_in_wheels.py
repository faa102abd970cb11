"""The places of a facts file, read again in the published wheels."""

from functools import cache
from pathlib import Path

import yaml

from site_tools.data import releases
from site_tools.data.facts import Entry, parse
from site_tools.data.places import faults
from site_tools.problems import Problem

FOLDER = "docs/facts"
WHEELS = Path(".cache", "wheels")


def reread(entry: Entry, wheels: Path) -> list[str] | None:
    """What is wrong with a place, or None where its wheel is not here.

    Args:
        entry: The place, in a published release.
        wheels: The folder of the wheels.
    """
    wheel = _wheel(entry.release, wheels)
    if wheel is None:
        return None
    text = wheel.read(entry.path)
    return faults(entry, text) if text is not None else [f"no file {entry.path}"]


def check_facts(root: Path, name: str) -> tuple[list[Problem], list[str]]:
    """What is wrong in a facts file, and the releases whose wheels are not here.

    Args:
        root: The project's folder.
        name: The name of the file in ``docs/facts``.

    Raises:
        ValueError: naming the entry and the field, if the file cannot be read.
    """
    path = f"{FOLDER}/{name}"
    text = (root / path).read_text("utf-8")
    entries = parse(text, name).entries
    problems, absent = list[Problem](), dict[str, None]()
    for entry, line in zip(entries, _lines(text), strict=True):
        found = reread(entry, root / WHEELS) if entry.checked else []
        if found is None:
            absent[entry.release] = None
        problems += [_problem(path, line, entry, told) for told in found or []]
    return problems, list(absent)


def _problem(path: str, line: int, entry: Entry, told: str) -> Problem:
    found, _, remedy = told.partition("; ")
    held = f"what {entry.place} says"
    return Problem(path, line, found, held, remedy or "correct the entry, or remove it")


def _lines(text: str) -> list[int]:
    """The line at which each entry of a sound file begins, from 1."""
    file = yaml.compose(text, Loader=yaml.SafeLoader)
    assert file is not None  # it has been parsed
    (entries,) = (value for key, value in file.value if key.value == "entries")
    return [entry.start_mark.line + 1 for entry in entries.value]


@cache
def _wheel(release: str, wheels: Path) -> releases.Wheel | None:
    """The wheel of a release, opened once for all of its places."""
    project, version = release.split(" ")
    return releases.find(project, version, wheels)
