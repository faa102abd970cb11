"""A name at the top of a module of site_tools stands for one thing in all of them."""

import ast
from collections.abc import Iterator, Mapping

from tests.layout import ROOT, sources

# What every module may have, and the same thing in each.
EVERYWHERE = {"__all__", "LOG", "main"}


def defined(source: str) -> Iterator[str]:
    """The functions, classes and constants that a module defines at its top."""
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from assigned(target)
            case ast.AnnAssign(target=target):
                yield from assigned(target)


def assigned(target: ast.expr) -> Iterator[str]:
    """The names in what stands to the left of an equals sign."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def shared(modules: Mapping[str, str]) -> dict[str, list[str]]:
    """The modules of each name that more than one of them defines."""
    places: dict[str, list[str]] = {}
    for module, source in modules.items():
        for name in set(defined(source)) - EVERYWHERE:
            places.setdefault(name, []).append(module)
    return {name: at for name, at in sorted(places.items()) if len(at) > 1}


def test_a_name_stands_for_one_thing():
    assert shared(sources(ROOT / "site_tools")) == {}


def test_a_name_that_is_defined_twice_is_found():
    planted = {
        "page.shape": "def read(page): ...\nWIDE, HIGH = 2, 3\nlater: int = 4\n",
        "page.links": "class read: ...\nHIGH = 3\ndef main(): WIDE = 5\n",
        "page.marks": "from page.shape import WIDE, read\nlater += 1\n",
        "page.all": "def main(): ...\n",
    }
    assert shared(planted) == {
        "HIGH": ["page.shape", "page.links"],
        "read": ["page.shape", "page.links"],
    }
