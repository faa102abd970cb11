"""What a fence that is made from data becomes: checked facts, names, source code."""

import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from site_tools.data import facts, names
from site_tools.data.package_source import source
from site_tools.html import measurements
from site_tools.html import status as status_page
from site_tools.indexes import fences as lists

CONCEPT = re.compile(r"\w+")
ROOT = Path(__file__).resolve().parents[2]


def fact(body: str, values: Mapping[str, str]) -> str:
    """The places of a release that a concept's facts file names.

    Args:
        body: ``concept release``, as in ``values verl 0.9.1``.
        values: Attributes of the fence; none is known.

    Raises:
        ValueError: if there is no such concept or no such release in it.
    """
    concept, _, release = body.strip().partition(" ")
    file = ROOT / "docs" / "facts" / f"{concept}.yml"
    if not CONCEPT.fullmatch(concept) or not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.yml"))
        nearest = difflib.get_close_matches(concept, known, n=1, cutoff=0)[0]
        raise ValueError(
            "fact: the concept must be one of docs/facts, "
            f"the nearest is {nearest}; got {concept}"
        )
    return facts.render(_concept(file.read_text("utf-8"), file.name), release)


def notation(body: str, values: Mapping[str, str]) -> str:
    """The table of symbols, in the language of ``data-language``."""
    return names.notation(all_names(), values.get("data-language", ""))


def glossary(body: str, values: Mapping[str, str]) -> str:
    """The table of terms, in the language of ``data-language``."""
    return names.glossary(all_names(), values.get("data-language", ""))


# Keyed by the text, so that a changed file is read again.
_concept = lru_cache(maxsize=None)(facts.parse)
_parsed_names = lru_cache(maxsize=1)(names.parse)


def all_names() -> list[names.Name]:
    """The rows of ``docs/names.yml``."""
    return _parsed_names((ROOT / "docs" / "names.yml").read_text("utf-8"))


def status(body: str, values: Mapping[str, str]) -> str:
    """A part of the status page, in the language of ``data-language``.

    Args:
        body: ``wanted``, ``counts``, ``pages``, ``facts`` or ``downloads``.
        values: Attributes of the fence.

    Raises:
        ValueError: for another part or language, or data that cannot be read.
    """
    return status_page.render(body.strip(), values.get("data-language", ""), ROOT)


def benchmarks(body: str, values: Mapping[str, str]) -> str:
    """A part of the benchmarks page, in the language of ``data-language``.

    Args:
        body: What is shown, as in ``gae``.
        values: Attributes of the fence.

    Raises:
        ValueError: for another part or language, or a record that cannot be read.
    """
    return measurements.render(body.strip(), values.get("data-language", ""), ROOT)


DERIVE = {
    "fact": fact,
    "notation": notation,
    "glossary": glossary,
    "source": source,
    "status": status,
    "benchmarks": benchmarks,
    **lists.DERIVE,
}
