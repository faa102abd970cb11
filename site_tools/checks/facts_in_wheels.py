"""The places of a facts file, read again in the published wheels."""

from pathlib import Path

from site_tools.data.facts import FOLDER, WHEELS, parse, reread
from site_tools.problems import Problem


def check_facts(root: Path, name: str) -> tuple[list[Problem], list[str]]:
    """What is wrong in a facts file, and the releases whose wheels are not here.

    Args:
        root: The project's folder.
        name: The name of the file in ``docs/facts``.

    Raises:
        Refusal: naming line and field, if the file cannot be read.
    """
    text = (root / FOLDER / name).read_text("utf-8")
    problems, absent = list[Problem](), dict[str, None]()
    for entry in parse(text, name).entries:
        found = reread(entry, root / WHEELS) if entry.checked else []
        if found is None:
            absent[entry.release] = None
        problems += found or []
    return problems, list(absent)
