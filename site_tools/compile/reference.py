"""The reference of ``ppo_ref``: a page a module, made from what the package says.

mkdocstrings reads each module where its page asks for it. Docstrings are in English
on both sites.
"""

import ast
import json
import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path

from site_tools.compile.templates import words

FOLDER = "ppo_ref"
BOOST = 0.1  # below the pages, unless somebody asks for just that name of the package
FLOOR = re.compile(r"^ +(\d+) +(\w.*)$", re.MULTILINE)
# A name of ppo_ref as inline code, and where such a name is no link.
NAMED = re.compile(
    r"<(?P<inert>a|h[1-6]|summary|pre)\b.*?</(?P=inert)>"
    r"|<code>(?P<name>ppo_ref(?:\.\w+)+)</code>",
    re.DOTALL,
)


def read(package: Path) -> dict[str, str]:
    """The sources of a package by dotted module, a folder's own as ``a.__init__``."""
    found = {path.relative_to(package): path for path in sorted(package.rglob("*.py"))}
    return {
        ".".join(inside.with_suffix("").parts): path.read_text("utf-8")
        for inside, path in found.items()
    }


def pages(sources: Mapping[str, str], lang: str) -> dict[str, str]:
    """The reference pages of one language, as Markdown by path."""
    # tests/test_docstrings.py sees to it that every module has one
    docs = {n: ast.get_docstring(ast.parse(s)) or n for n, s in sources.items()}
    note, made = f"{words(lang)['from_docstrings']}\n{{ .from-code }}", {}
    for name, doc in docs.items():
        *folder, last = FOLDER, *name.split(".")
        is_folder = last == "__init__"
        title = ".".join(folder if is_folder else [*folder, last])
        path = "/".join([*folder, "index.md" if is_folder else f"{last}.md"])
        body = f"::: {title}"
        if is_folder:
            body = _map(doc, _inside(docs, name.removesuffix("__init__")), lang)
        line = doc.splitlines()[0]
        front = {"title": title, "description": line, "search": {"boost": BOOST}}
        made[path] = f"---\n{json.dumps(front)}\n---\n\n{note}\n\n{body}"
    return made


def source(path: str) -> list[tuple[str, str]]:
    """The source of a reference page, as ``links.edit_links`` takes it."""
    folder, name = posixpath.split(path.removesuffix(".md"))
    module = "__init__" if name == "index" else name
    ours = f"{folder}/".startswith(f"{FOLDER}/")
    return [("code", f"{folder}/{module}.py")] if ours else []


def _inside(docs: Mapping[str, str], folder: str) -> dict[str, str]:
    """Modules directly in a folder (``""`` or ``"name."``): each line by name."""
    found = {}
    for name, doc in docs.items():
        module, _, rest = name.removeprefix(folder).partition(".")
        here = name.startswith(folder) and module != "__init__"
        if here and rest in ("", "__init__"):
            page = f"{module}/index.md" if rest else f"{module}.md"
            found[module] = f"- [`{module}`]({page}): {doc.splitlines()[0]}"
    return found


def _map(package: str, lines: Mapping[str, str], lang: str) -> str:
    """A folder's docstring, each module in its floor with its line, the others last."""
    rest, seen = dict(lines), set[str]()

    def listed(row: re.Match[str]) -> str:
        floor, names = row.groups()
        label = f"\n**{words(lang)['floor'].format(floor)}**\n\n" * (floor not in seen)
        seen.add(floor)
        own = [rest.pop(name) for name in names.split() if name in rest]
        return label + "\n".join(own)

    return f"{FLOOR.sub(listed, package)}\n\n" + "\n".join(rest.values())


def symbols(sources: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name, source in sources.items():
        module = f"{FOLDER}.{name}".removesuffix(".__init__")
        found[module] = page = f"{module.replace('.', '/')}/"
        defined = (f"{module}.{each}" for each in _public(source))
        found |= {each: f"{page}#{each}" for each in defined}
    return found


@lru_cache(maxsize=256)  # every page with a name of the package asks
def _public(source: str) -> list[str]:
    bodies = (
        node.targets if isinstance(node, ast.Assign) else [node]
        for node in ast.parse(source).body
    )
    nodes = chain.from_iterable(bodies)
    names = (str(getattr(node, "name", getattr(node, "id", "_"))) for node in nodes)
    return [name for name in names if not name.startswith("_")]
