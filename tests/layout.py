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


def sources(package: Path) -> dict[str, str]:
    """Source by dotted name within a package; a folder has that of its __init__."""
    texts = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        texts[name or "__init__"] = path.read_text("utf-8")
    return texts


ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "ppo_ref"
SOURCES = sources(PACKAGE)
FOLDERS = {path.parent.name for path in PACKAGE.glob("*/*.py")}
# To import these is to run them; they define nothing.
ACTING = frozenset({"__main__", "verl_plugin"})
MODULES = sorted(SOURCES.keys() - {"__init__"} - ACTING - FOLDERS)


def floors(table: str) -> dict[str, int]:
    """Module or folder to floor, from the lines that begin with a number."""
    lines = re.findall(r"^ +(\d+) +(.+)$", table, flags=re.MULTILINE)
    return {name: int(floor) for floor, names in lines for name in names.split()}


def imported(package: str, source: str) -> list[str]:
    """Dotted names of the package that a source imports; a relative one is a dot."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            stem = f"{package}.." if node.level else node.module
            names += [f"{stem}.{alias.name}" for alias in node.names]
    start = f"{package}."
    return [name.removeprefix(start) for name in names if name.startswith(start)]


def layout_faults(package: str, modules: dict[str, str]) -> Iterator[str]:
    """All in which the modules of a package differ from the table in its docstring."""
    floor_of = floors(ast.get_docstring(ast.parse(modules["__init__"]), False) or "")
    tops = {name.partition(".")[0] for name in modules} - {"__init__"}
    for name in sorted(tops ^ floor_of.keys()):
        placed = "in the table alone" if name in floor_of else "not in the table"
        yield f"{name}: {placed}"
    needs: dict[str, set[str]] = {}
    for module in sorted(modules.keys() - {"__init__"}):
        own, _, inside = module.partition(".")
        for name in imported(package, modules[module]):
            other, _, neighbour = name.partition(".")
            if not other:
                yield f"{module}: an import must name the package, not a dot"
            elif inside and neighbour and other == own:
                there = name if name in modules else name.rpartition(".")[0]
                needs.setdefault(module, set()).add(there)
            elif floor_of.get(other, 0) >= floor_of.get(own, 0):
                fault = f"{module} (floor {floor_of.get(own)}) imports {other}"
                yield f"{fault} (floor {floor_of.get(other)})"
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        yield " imports ".join(reversed(error.args[1]))
    for name, source in modules.items():
        body = ast.parse(source).body
        docstring = len(body) == 1 and isinstance(body[0], ast.Expr)
        folder = any(other.startswith(f"{name}.") for other in modules)
        if (folder or name == "__init__") and not docstring:
            yield f"{name}: __init__.py must hold a docstring and nothing else"
        if name.rpartition(".")[0] not in {"", *modules}:
            yield f"{name}: its folder has no __init__.py"
