"""The modules of ``ppo_ref`` by name, and the files that pages are made from."""

from collections.abc import Collection, Mapping
from pathlib import Path

FOLDER = "ppo_ref"


def read(package: Path) -> dict[str, str]:
    """The sources of a package by module; none where there is no package.

    A folder goes by its own name, a module in it by ``folder.module``; ``__main__``
    is for the command line and has no page.
    """
    found = {}
    for path in sorted(package.rglob("*.py")):
        *folders, name = path.relative_to(package).with_suffix("").parts
        parts = folders if folders and name == "__init__" else [*folders, name]
        found[".".join(parts)] = path.read_text("utf-8")
    found.pop("__main__", None)
    return found


def source(path: str, folders: Collection[str] = ()) -> list[tuple[str, str]]:
    """What a reference page is made from, as ``contributing.links`` takes it.

    Args:
        path: Of the page.
        folders: Which modules of the package are folders.

    Example:
        >>> source("ppo_ref/gae.md"), source("gae/inputs.md")
        ([('code', 'ppo_ref/gae.py')], [])
        >>> source("ppo_ref/asserts.md", {"asserts"})
        [('code', 'ppo_ref/asserts/__init__.py')]
    """
    folder, _, name = path.removesuffix(".md").partition("/")
    module = "__init__" if name == "index" else name
    module += "/__init__" if module in folders else ""
    return [("code", f"{FOLDER}/{module}.py")] if folder == FOLDER else []


def folders(sources: Mapping[str, str]) -> set[str]:
    """The modules of a package that are folders.

    Example:
        >>> folders({"gae": "", "asserts": "", "asserts.slices": ""})
        {'asserts'}
    """
    return {name.partition(".")[0] for name in sources if "." in name}
