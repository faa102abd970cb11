"""The facts files that a contributor names or has changed."""

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from site_tools.checks.facts_in_wheels import check_facts
from site_tools.commands.talk import Refusal
from site_tools.data.facts import FOLDER
from site_tools.problems import Problem

EXAMPLE = "returns"
NAMED = re.compile(r"(?:docs/)?facts/(?P<concept>[\w-]+)(?:\.yml)?")


def facts_of(paths: Iterable[str], root: Path) -> dict[str, str]:
    """The facts files among what was named, by how it was named.

    Args:
        paths: As in ``docs/facts/returns.yml`` or ``facts/returns``; pages too.
        root: The project's folder.

    Raises:
        Refusal: where there is no such file, with the nearest.
    """
    named = {path: NAMED.fullmatch(path.strip()) for path in paths}
    concepts = {path: match["concept"] for path, match in named.items() if match}
    known = [file.stem for file in sorted((root / FOLDER).glob("*.yml"))]
    for concept in concepts.values():
        if concept not in known:
            nearest = difflib.get_close_matches(concept, known, n=1, cutoff=0)
            near = (nearest or [EXAMPLE])[0]
            raise Refusal(f"No facts file {concept}; the nearest is facts/{near}")
    return concepts


def facts_changed(files: Iterable[str], root: Path) -> list[str]:
    """The facts files among those that changed, as they are named; not those gone."""
    return [f for f in files if NAMED.fullmatch(f) and (root / f).is_file()]


def judged_facts(root: Path, concept: str) -> tuple[list[Problem], list[str]]:
    """What is wrong in a facts file, and what could not be read.

    Raises:
        Refusal: where the file itself cannot be read.
    """
    try:
        problems, absent = check_facts(root, f"{concept}.yml")
    except ValueError as error:
        raise Refusal(str(error)) from error
    return problems, [f"{r}: not read, no wheel; make ready brings it" for r in absent]
