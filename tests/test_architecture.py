"""The floor table in the package's docstring is true."""

import ast
import re
from pathlib import Path

import ppo_ref

PACKAGE = Path(ppo_ref.__file__).parent
SOURCES = {path.stem: path.read_text("utf-8") for path in PACKAGE.glob("*.py")}
MODULES = sorted(SOURCES.keys() - {"__init__"})


def floors(table: str) -> dict[str, int]:
    """Module name to floor, from the lines that begin with a number."""
    lines = re.findall(r"^ +(\d+) +(.+)$", table, flags=re.MULTILINE)
    placed = [(name, int(floor)) for floor, names in lines for name in names.split()]
    assert len(placed) == len(dict(placed)), "a module stands on two floors"
    return dict(placed)


def imported(source: str) -> list[str]:
    """Modules of the package that a module imports, in whatever spelling."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            stem = "ppo_ref" if node.level else ""
            module = ".".join(part for part in (stem, node.module) if part)
            nested = module == "ppo_ref"
            names += [f"{module}.{a.name}" if nested else module for a in node.names]
    return [name.split(".")[1] for name in names if name.startswith("ppo_ref.")]


def upward_imports(module: str, source: str, floor_of: dict[str, int]) -> list[str]:
    """Imports that do not go down, as sentences."""
    return [
        f"{module} (floor {floor_of[module]}) imports {other} (floor {floor_of[other]})"
        for other in imported(source)
        if floor_of[other] >= floor_of[module]
    ]


def test_the_table_names_every_module_once():
    assert sorted(floors(ppo_ref.__doc__)) == MODULES


def test_imports_go_down():
    floor_of = floors(ppo_ref.__doc__)
    for name in MODULES:
        assert upward_imports(name, SOURCES[name], floor_of) == []
    assert sum(len(imported(SOURCES[name])) for name in MODULES) > len(MODULES)


def test_the_package_re_exports_nothing():
    (docstring,) = ast.parse(SOURCES["__init__"]).body
    assert isinstance(docstring, ast.Expr)


def test_a_stage_that_imports_a_stage_is_found():
    table = "\n    2   advantages  losses\n    1   masking\n"
    spellings = [
        "from ppo_ref.losses import policy_loss",
        "import ppo_ref.losses",
        "from ppo_ref import losses",
        "from . import losses",
        "from .losses import policy_loss",
        "def late():\n    from ppo_ref.losses import policy_loss",
    ]
    for source in spellings:
        found = upward_imports("advantages", source, floors(table))
        assert found == ["advantages (floor 2) imports losses (floor 2)"], source
    assert not upward_imports("losses", "import ppo_ref.masking", floors(table))
    upward = upward_imports("masking", "import ppo_ref.losses", floors(table))
    assert upward == ["masking (floor 1) imports losses (floor 2)"]
