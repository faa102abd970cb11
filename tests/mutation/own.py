"""A module's own tests, and which of the project can be imported before a mutant."""

import ast
import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from site_tools.mutation.record import own_tests, source

ROOT = Path(__file__).resolve().parents[2]
# One table of calls for the whole package each: a module's are those of its functions.
REGISTRIES = ("tests/test_errors.py", "tests/test_error_texts.py")


class Own(NamedTuple):
    """A module of the package and the files that test it."""

    module: str
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"ppo_ref.{self.module}"

    @property
    def source(self) -> Path:
        return source(ROOT, self.module)

    def load(self) -> ModuleType:
        return importlib.import_module(self.name)


def table() -> dict[str, Own]:
    """The modules whose mutants are tried."""
    return {name: Own(name, tuple(tests)) for name, tests in own_tests(ROOT).items()}


def import_around(own: Own) -> None:
    """Import what tests need and mutants leave alone: all that reaches no mutant."""
    known = path_of_modules()
    for test in (*own.tests, *REGISTRIES):
        asked = set(imports(ROOT / test))
        for name in sorted(asked - known.keys()):
            _import_other(name)
        for name in sorted(set().union(*map(reached, asked & known.keys()))):
            if own.name not in reached(name):
                importlib.import_module(name)
    assert own.name not in sys.modules


def _import_other(name: str) -> None:
    """A package, and what it imports only when asked for it."""
    package, *parts = name.split(".")
    if not (ROOT / package).exists():
        with suppress(ImportError, AttributeError):
            found = importlib.import_module(package)
            for part in parts:
                found = getattr(found, part)


@cache
def path_of_modules() -> dict[str, Path]:
    """The modules of the package, and what tests share."""
    files = [*ROOT.glob("ppo_ref/**/*.py"), *ROOT.glob("tests/**/*.py")]
    named = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files
    }
    return {
        name.removesuffix(".__init__"): file
        for name, file in named.items()
        if not name.split(".")[-1].startswith(("test_", "conftest", "__main__"))
    }


@cache
def reached(name: str) -> frozenset[str]:
    """A module and all of the project that it imports, in however many steps."""
    found, waiting = {name}, [name]
    while waiting:
        path = path_of_modules().get(waiting.pop())
        new = (
            {n for n in imports(path) if n in path_of_modules()} - found if path else ()
        )
        found.update(new)
        waiting.extend(new)
    return frozenset(found)


def imports(path: Path) -> Iterator[str]:
    """What a file imports; of a package also what it may be asked for."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
