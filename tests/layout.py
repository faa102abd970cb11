"""How a package is laid out: its modules, folders, floors and imports.

The docstring of a package holds a table of floors, such as

    2   losses  training
    1   masking

A module or a folder stands on one floor and sees only the floors below; within a folder
any module may see any other, as long as they see each other in no circle.
"""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def sources(package: Path) -> dict[str, str]:
    """Source by dotted name within a package; a folder has that of its __init__."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name or "__init__"] = path.read_text("utf-8")
    return found


PACKAGE = ROOT / "ppo_ref"
SOURCES = sources(PACKAGE)
FOLDERS = {path.parent.name for path in PACKAGE.glob("*/*.py")}
# To import these is to run them; that they define nothing is tested here.
ACTING = frozenset({"__main__", "verl_plugin"})
MODULES = sorted(SOURCES.keys() - {"__init__"} - ACTING - FOLDERS)


def floors(table: str) -> dict[str, int]:
    """Module or folder to floor, from the lines that begin with a number."""
    lines = re.findall(r"^ +(\d+) +(.+)$", table, flags=re.MULTILINE)
    placed = [(name, int(floor)) for floor, names in lines for name in names.split()]
    assert len(placed) == len(dict(placed)), "a module stands on two floors"
    return dict(placed)


def imported(package: str, module: str, source: str) -> list[str]:
    """Dotted names of the package that a module imports, in whatever spelling."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            own = [package, *module.split(".")]
            above = own[: -node.level] if node.level else []
            stem = ".".join([*above, *filter(None, [node.module])])
            names += [f"{stem}.{alias.name}" for alias in node.names]
    start = f"{package}."
    return [name.removeprefix(start) for name in names if name.startswith(start)]


def upward_imports(
    package: str, module: str, source: str, floor_of: dict[str, int]
) -> list[str]:
    """Imports that go neither down nor to a neighbour in the folder, as sentences."""
    own, _, inside = module.partition(".")
    faults = []
    for name in imported(package, module, source):
        other, _, neighbour = name.partition(".")
        if inside and neighbour and other == own:
            continue
        if floor_of[other] >= floor_of[own]:
            fault = f"{own} (floor {floor_of[own]}) imports {other}"
            faults.append(f"{fault} (floor {floor_of[other]})")
    return faults


def circles(package: str, modules: dict[str, str]) -> list[str]:
    """A way in a circle through the modules of folders, if there is one."""
    inside = {name for name in modules if "." in name}
    needs = {
        name: {
            other
            for target in imported(package, name, modules[name])
            for other in inside
            if f"{target}.".startswith(f"{other}.")
        }
        for name in inside
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return [" imports ".join(reversed(error.args[1]))]
    return []


def layout_faults(
    package: str, modules: dict[str, str], acting: frozenset[str] = frozenset()
) -> Iterator[str]:
    """All in which the modules of a package differ from the table in its docstring."""
    floor_of = floors(ast.get_docstring(ast.parse(modules["__init__"]), False) or "")
    there = {name.partition(".")[0] for name in modules} - {"__init__"}
    for name in sorted(there ^ floor_of.keys()):
        placed = "in the table alone" if name in floor_of else "not in the table"
        yield f"{name}: {placed}"
    if there <= floor_of.keys():
        for name in modules.keys() - {"__init__"}:
            yield from upward_imports(package, name, modules[name], floor_of)
    yield from circles(package, modules)
    for name, source in modules.items():
        folder = name.rpartition(".")[0]
        if folder and folder not in modules:
            yield f"{name}: its folder has no __init__.py"
        holds = any(other.startswith(f"{name}.") for other in modules)
        body = ast.parse(source).body
        docstring = len(body) == 1 and isinstance(body[0], ast.Expr)
        if (holds or name == "__init__") and not docstring:
            yield f"{name}: __init__.py must hold a docstring and nothing else"
        if name in acting and any(hasattr(node, "name") for node in body):
            yield f"{name}: must define nothing, only start what is defined elsewhere"
