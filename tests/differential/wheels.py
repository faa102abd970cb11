"""Published wheels in .cache/wheels: what they hold, read without installing them."""

import __future__

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest
import torch

# One reason for all of them, so that a run without a network says it in one line.
MISSING = "the wheels of other projects are not all here: make ready downloads them"
WHEELS = Path(__file__).parents[2] / ".cache" / "wheels"
PURE = re.compile(r"^[^/]+\.data/purelib/")  # installed without it


def find(release: str) -> Path | None:
    """The wheel of a release written as in ``verl 0.9.1``, if it is here."""
    project, version = release.lower().split(" ")
    return next(WHEELS.glob(f"{project.replace('-', '_')}-{version}-*.whl"), None)


def requires(*releases: str) -> pytest.MarkDecorator:
    """A mark for tests that read these releases."""
    return pytest.mark.skipif(not all(map(find, releases)), reason=MISSING)


@cache
def source(release: str, path: str) -> str:
    wheel = find(release)
    if wheel is None:
        raise FileNotFoundError(f"{release}: {MISSING}")
    with ZipFile(wheel) as archive:
        name = {PURE.sub("", name): name for name in archive.namelist()}.get(path)
        if name is None:
            raise LookupError(f"{release} has no {path}")
        return archive.read(name).decode()


def _functions(
    scope: ast.Module | ast.ClassDef, inside: str = ""
) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in scope.body:
        if isinstance(node, ast.FunctionDef):
            yield inside + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{inside}{node.name}.")


def cut(release: str, path: str, *names: str, **given: Any) -> SimpleNamespace:
    """The named functions of one file, undecorated; ``given`` are their globals.

    A method is named as in ``Buffer.add`` and comes back as ``add``, a function whose
    first argument is what it calls self.
    """
    found = dict(_functions(ast.parse(source(release, path))))
    if missing := set(names) - found.keys():
        raise LookupError(f"{release} {path} has no {', '.join(sorted(missing))}")
    functions = [found[name] for name in found if name in names]
    for function in functions:
        function.decorator_list = []
    names = tuple(function.name for function in functions)
    unread_annotations = __future__.annotations.compiler_flag
    body = ast.Module(body=list(functions), type_ignores=[])
    space = {"torch": torch, "F": torch.nn.functional, **given}
    exec(compile(body, f"{release}/{path}", "exec", flags=unread_annotations), space)
    return SimpleNamespace(**{name: space[name] for name in names})


def cut_class(release: str, path: str, name: str, **given: Any):
    """The named class of one file; ``given`` are the globals of its methods."""
    nodes = ast.parse(source(release, path)).body
    found = [n for n in nodes if isinstance(n, ast.ClassDef) and n.name == name]
    if not found:
        raise LookupError(f"{release} {path} has no {name}")
    space = {"torch": torch, **given}
    exec(compile(ast.Module(found, []), f"{release}/{path}", "exec"), space)
    return space[name]


def whole(release: str, path: str, **given: Any) -> SimpleNamespace:
    """All of one file; ``given`` is what it imports of its own project."""
    own = path.partition("/")[0]
    module = ast.parse(source(release, path))
    module.body = [
        node
        for node in module.body
        if not (isinstance(node, ast.ImportFrom) and str(node.module).startswith(own))
    ]
    space = {"__name__": path, **given}
    exec(compile(module, f"{release}/{path}", "exec"), space)
    return SimpleNamespace(**space)
