"""What a fence that is made from data becomes: checked facts, names, source code."""

import ast
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from site_tools.data import facts, names
from site_tools.html import status as status_page
from site_tools.indexes import fences as lists

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
    if not file.is_file():
        known = sorted(path.stem for path in file.parent.glob("*.yml"))
        raise ValueError(f"fact: the concept must be one of {known}, got {concept!r}")
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


def source(body: str, values: Mapping[str, str]) -> str:
    """A function of ``ppo_ref`` as it stands in the package, docstring left out.

    Args:
        body: Dotted name, as in ``ppo_ref.alignment.response_outputs``.
        values: Attributes of the fence; none is known.

    Raises:
        ValueError: if there is no such function.
    """
    module, _, name = body.strip().rpartition(".")
    file = ROOT / Path(*module.split(".")).with_suffix(".py")
    if not module.startswith("ppo_ref.") or not file.is_file():
        raise ValueError(f"source: must be ppo_ref.module.function, got {body.strip()}")
    lines = file.read_text("utf-8").splitlines()
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return "\n".join(_without_docstring(node, lines))
    raise ValueError(f"source: {module} has no function {name}")


def _without_docstring(node: ast.FunctionDef, lines: list[str]) -> list[str]:
    start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    code = lines[start - 1 : node.end_lineno]
    if ast.get_docstring(node) is None:
        return code
    docstring = node.body[0]
    first, last = docstring.lineno - start, (docstring.end_lineno or 0) - start
    return code[:first] + code[last + 1 :]


def status(body: str, values: Mapping[str, str]) -> str:
    """A part of the status page, in the language of ``data-language``.

    Args:
        body: ``wanted``, ``counts``, ``pages`` or ``facts``.
        values: Attributes of the fence.

    Raises:
        ValueError: for another part or language, or data that cannot be read.
    """
    return status_page.render(body.strip(), values.get("data-language", ""), ROOT)


DERIVE = {
    "fact": fact,
    "notation": notation,
    "glossary": glossary,
    "source": source,
    "status": status,
    **lists.DERIVE,
}
