"""Published wheels in .cache/wheels: what they hold, read without installing them."""

import __future__

import ast
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest
import torch

WHEELS = Path(__file__).parents[2] / ".cache" / "wheels"
PURE = re.compile(r"^[^/]+\.data/purelib/")  # installed without it


def find(release: str) -> Path | None:
    """The wheel of a release written as in ``verl 0.9.1``, if it is here."""
    return next(WHEELS.glob(f"{release.lower().replace(' ', '-')}-*.whl"), None)


def requires(*releases: str) -> pytest.MarkDecorator:
    absent = ", ".join(release for release in releases if not find(release))
    reason = f"no wheel of {absent}; `make peers` brings it"
    return pytest.mark.skipif(bool(absent), reason=reason)


@cache
def source(release: str, path: str) -> str:
    wheel = find(release)
    if wheel is None:
        raise FileNotFoundError(f"no wheel of {release}; `make peers` brings it")
    with ZipFile(wheel) as archive:
        name = {PURE.sub("", name): name for name in archive.namelist()}.get(path)
        if name is None:
            raise LookupError(f"{release} has no {path}")
        return archive.read(name).decode()


def cut(release: str, path: str, *names: str, **given: Any) -> SimpleNamespace:
    """The named functions of one file, undecorated; ``given`` are their globals."""
    nodes = ast.parse(source(release, path)).body
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.name in names]
    if missing := set(names) - {function.name for function in functions}:
        raise LookupError(f"{release} {path} has no {', '.join(sorted(missing))}")
    for function in functions:
        function.decorator_list = []
    unread_annotations = __future__.annotations.compiler_flag
    body = ast.Module(body=list(functions), type_ignores=[])
    space = {"torch": torch, "F": torch.nn.functional, **given}
    exec(compile(body, f"{release}/{path}", "exec", flags=unread_annotations), space)
    return SimpleNamespace(**{name: space[name] for name in names})
