"""The reference of ``ppo_ref``: a page a module, made from what the package says.

mkdocstrings reads each module where its page asks for it. Docstrings are in English
on both sites.
"""

import ast
import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

FOLDER = "ppo_ref"
FLOOR = re.compile(r"^ +(\d+) +(\w.*)$", re.MULTILINE)
FLOORS = re.compile(r"(?:^ +\d+ +\w.*\n)+", re.MULTILINE)

LINE_LINK = re.compile(r'<a id="[^"]*__codelineno-[^"]*"[^>]*></a>')
LINE = re.compile(r'<span id="[^"]*__span-[^"]*">')

# Below the pages, unless somebody asks for just that name of the package.
BOOST = 0.1
NOTE = {
    "zh": "取自代码里的 docstring，只有英文；其中的例子，测试都会跑一遍。",
    "en": "From the docstrings of the code, whose examples the tests run.",
}
FLOOR_NAME = {"zh": "第 {} 层", "en": "Floor {}"}


def read(package: Path) -> dict[str, str]:
    """The sources of a package by dotted module; none where there is no package.

    A folder's own is ``folder.__init__``.
    """
    found = {path.relative_to(package): path for path in sorted(package.rglob("*.py"))}
    return {
        ".".join(inside.with_suffix("").parts): path.read_text("utf-8")
        for inside, path in found.items()
    }


def pages(sources: Mapping[str, str], lang: str) -> dict[str, str]:
    """The reference pages of one language, as Markdown by path.

    Args:
        sources: What :func:`read` gives.
        lang: The language of what stands around the docstrings.

    Raises:
        ValueError: naming the module that has no docstring.

    Example:
        >>> made = pages({"__init__": '"All."', "gae": '"Sums."'}, "en")
        >>> list(made), made["ppo_ref/gae.md"].endswith("::: ppo_ref.gae")
        (['ppo_ref/index.md', 'ppo_ref/gae.md'], True)
    """
    docs = {name: _docstring(name, source) for name, source in sources.items()}
    if not docs:
        return {}
    note, made = f"{NOTE[lang]}\n{{ .from-code }}", {}
    for name, doc in docs.items():
        *folder, last = FOLDER, *name.split(".")
        is_map = last == "__init__"
        title = ".".join(folder if is_map else [*folder, last])
        inside = _inside(docs, name.removesuffix("__init__")) if is_map else {}
        body = _map(doc, inside, lang) if is_map else f"::: {title}"
        path = "/".join([*folder, "index.md" if is_map else f"{last}.md"])
        made[path] = _page(title, doc, f"{note}\n\n{body}")
    return made


def source(path: str) -> list[tuple[str, str]]:
    """What a reference page is made from, as ``contributing.links`` takes it.

    Example:
        >>> source("ppo_ref/gae.md"), source("gae/inputs.md")
        ([('code', 'ppo_ref/gae.py')], [])
        >>> source("ppo_ref/asserts/index.md")
        [('code', 'ppo_ref/asserts/__init__.py')]
    """
    folder, name = posixpath.split(path.removesuffix(".md"))
    module = "__init__" if name == "index" else name
    ours = f"{folder}/".startswith(f"{FOLDER}/")
    return [("code", f"{folder}/{module}.py")] if ours else []


def finish(html: str) -> str:
    """A rendered reference page without what it does not need.

    mkdocstrings gives the lines of every signature and example the same ids, and
    what is folded would be found by each word of the code.

    Example:
        >>> finish('<span id="__span-0-1"><a id="__codelineno-0-1"></a>gae</span>')
        '<span>gae</span>'
    """
    html = LINE.sub("<span>", LINE_LINK.sub("", html))
    folded = '<details class="source"'
    return html.replace(folded, f'{folded} data-search-exclude="1"')


def _docstring(name: str, source: str) -> str:
    doc = ast.get_docstring(ast.parse(source))
    if doc is None:
        path = f"{FOLDER}/{name.replace('.', '/')}.py"
        raise ValueError(f"{path}: must begin with a docstring, has none")
    return doc


def _page(title: str, doc: str, body: str) -> str:
    front = {
        "title": title,
        "description": _first_line(doc),
        "search": {"boost": BOOST},
    }
    return f"---\n{json.dumps(front)}\n---\n\n{body}"


def _inside(docs: Mapping[str, str], folder: str) -> dict[str, str]:
    """What stands directly in a folder (``""`` or ``"name."``): its line by name."""
    found = {}
    for name, doc in docs.items():
        module, _, rest = name.removeprefix(folder).partition(".")
        here = name.startswith(folder) and module != "__init__"
        if here and rest in ("", "__init__"):
            page = f"{module}/index.md" if rest else f"{module}.md"
            found[module] = f"- [`{module}`]({page}): {_first_line(doc)}"
    return found


def _map(package: str, lines: Mapping[str, str], lang: str) -> str:
    """The docstring of the package, each module in its floors with its line.

    A module that the table of floors forgets is a fault of the package's own tests;
    here it stands at the end, as what a folder holds does.
    """
    floors = {floor: names.split() for floor, names in FLOOR.findall(package)}
    placed = {name for names in floors.values() for name in names}
    lists = [
        f"**{FLOOR_NAME[lang].format(floor)}**\n\n{_list(names, lines)}"
        for floor, names in floors.items()
    ]
    rest = _list([name for name in lines if name not in placed], lines)
    text = FLOORS.sub(lambda _: "\n\n".join(lists) + "\n", package, count=1)
    return f"{text}\n\n{rest}"


def _list(names: list[str], lines: Mapping[str, str]) -> str:
    return "\n".join(lines[name] for name in names if name in lines)


def _first_line(doc: str) -> str:
    return doc.splitlines()[0]
