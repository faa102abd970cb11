"""The floor table in the package's docstring is true."""

import ast
import re
from pathlib import Path

import ppo_ref

PACKAGE = Path(ppo_ref.__file__).parent
SOURCES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path.read_text("utf-8")
    for path in PACKAGE.rglob("*.py")
}
# Modules as Python imports them; in the table a folder counts as one.
MODULES = sorted({name.removesuffix(".__init__") for name in SOURCES} - {"__init__"})
PLACED = sorted({name.partition(".")[0] for name in MODULES} - {"__main__"})


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
    """Imports that do not go down, as sentences; a folder may import itself."""
    return [
        f"{module} (floor {floor_of[module]}) imports {other} (floor {floor_of[other]})"
        for other in imported(source)
        if floor_of[other] >= floor_of[module] and other != module
    ]


def test_the_table_names_every_module_once():
    assert sorted(floors(ppo_ref.__doc__)) == PLACED


def test_imports_go_down():
    floor_of = floors(ppo_ref.__doc__)
    for name, source in SOURCES.items():
        if (place := name.partition(".")[0]) in PLACED:
            assert upward_imports(place, source, floor_of) == []
    assert sum(len(imported(source)) for source in SOURCES.values()) > len(MODULES)


def test_the_package_re_exports_nothing():
    for name, source in SOURCES.items():
        if name.endswith("__init__"):
            (docstring,) = ast.parse(source).body
            assert isinstance(docstring, ast.Expr), name


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
    assert not upward_imports("losses", "import ppo_ref.losses.own", floors(table))
    upward = upward_imports("masking", "import ppo_ref.losses", floors(table))
    assert upward == ["masking (floor 1) imports losses (floor 2)"]
