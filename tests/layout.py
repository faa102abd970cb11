"""How ``ppo_ref`` is laid out: its modules, folders, floors and imports."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import ppo_ref

PACKAGE = Path(ppo_ref.__file__).parent
FILES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}


def named(files: dict[str, str]) -> dict[str, str]:
    """Source by dotted name within the package; a folder has that of its __init__."""
    names = {file.removesuffix(".py").removesuffix("/__init__"): file for file in files}
    return {name.replace("/", "."): files[file] for name, file in names.items()}


SOURCES = named(FILES)
FOLDERS = {name.partition("/")[0] for name in FILES if "/" in name}
# To import these is to run them; that they define nothing is tested here.
ACTING = {"__main__", "verl_plugin"}
MODULES = sorted(SOURCES.keys() - {"__init__"} - ACTING - FOLDERS)


def floors(table: str) -> dict[str, int]:
    """Module or folder to floor, from the lines that begin with a number."""
    lines = re.findall(r"^ +(\d+) +(.+)$", table, flags=re.MULTILINE)
    placed = [(name, int(floor)) for floor, names in lines for name in names.split()]
    assert len(placed) == len(dict(placed)), "a module stands on two floors"
    return dict(placed)


def imported(module: str, source: str) -> list[str]:
    """Dotted names of the package that a module imports, in whatever spelling."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            own = ["ppo_ref", *module.split(".")]
            above = own[: -node.level] if node.level else []
            stem = ".".join([*above, *filter(None, [node.module])])
            names += [f"{stem}.{alias.name}" for alias in node.names]
    ours = (name for name in names if name.startswith("ppo_ref."))
    return [name.removeprefix("ppo_ref.") for name in ours]


def upward_imports(module: str, source: str, floor_of: dict[str, int]) -> list[str]:
    """Imports that go neither down nor to a neighbour in the folder, as sentences."""
    own, _, inside = module.partition(".")
    found = []
    for name in imported(module, source):
        other, _, neighbour = name.partition(".")
        if inside and neighbour and other == own:
            continue
        if floor_of[other] >= floor_of[own]:
            told = f"{own} (floor {floor_of[own]}) imports {other}"
            found.append(f"{told} (floor {floor_of[other]})")
    return found


def cycles(sources: dict[str, str]) -> list[str]:
    """A way in a circle through the modules of folders, if there is one."""
    inside = {name for name in sources if "." in name}
    needs = {
        name: {
            other
            for other in inside
            for target in imported(name, sources[name])
            if f"{target}.".startswith(f"{other}.")
        }
        for name in inside
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return [" imports ".join(reversed(error.args[1]))]
    return []


def folder_faults(files: dict[str, str]) -> Iterator[str]:
    """What a folder, or what starts the package, must not be."""
    for name, source in files.items():
        folder, _, file = name.rpartition("/")
        if "/" in folder:
            yield f"{name}: a folder holds modules, no folder"
        if folder and f"{folder}/__init__.py" not in files:
            yield f"{name}: its folder has no __init__.py"
        body = ast.parse(source).body
        if file == "__init__.py" and (
            len(body) != 1 or not isinstance(body[0], ast.Expr)
        ):
            yield f"{name}: must hold a docstring and nothing else"
        acts = name.removesuffix(".py") in ACTING
        if acts and any(hasattr(node, "name") for node in body):
            yield f"{name}: must define nothing, only start what is defined elsewhere"
