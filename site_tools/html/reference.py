"""The reference of ``ppo_ref``: a page a module, made from what the package says.

mkdocstrings reads each module where its page asks for it. Docstrings are in English
on both sites.
"""

import ast
import json
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
    """The sources of a package by module; none where there is no package."""
    return {path.stem: path.read_text("utf-8") for path in sorted(package.glob("*.py"))}


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
    package = docs.pop("__init__")
    note = f"{NOTE[lang]}\n{{ .from-code }}"
    whole = f"{note}\n\n{_map(package, docs, lang)}"
    made = {f"{FOLDER}/index.md": _page(FOLDER, package, whole)}
    for name, doc in docs.items():
        body = f"{note}\n\n::: {FOLDER}.{name}"
        made[f"{FOLDER}/{name}.md"] = _page(f"{FOLDER}.{name}", doc, body)
    return made


def source(path: str) -> list[tuple[str, str]]:
    """What a reference page is made from, as ``contributing.links`` takes it.

    Example:
        >>> source("ppo_ref/gae.md"), source("gae/inputs.md")
        ([('code', 'ppo_ref/gae.py')], [])
    """
    folder, _, name = path.removesuffix(".md").partition("/")
    module = "__init__" if name == "index" else name
    return [("code", f"{FOLDER}/{module}.py")] if folder == FOLDER else []


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
        raise ValueError(f"ppo_ref/{name}.py: must begin with a docstring, has none")
    return doc


def _page(title: str, doc: str, body: str) -> str:
    front = {
        "title": title,
        "description": _first_line(doc),
        "search": {"boost": BOOST},
    }
    return f"---\n{json.dumps(front)}\n---\n\n{body}"


def _map(package: str, docs: Mapping[str, str], lang: str) -> str:
    """The docstring of the package, each module in its floors with its first line.

    A module that the table of floors forgets is a fault of the package's own tests;
    here it stands at the end.
    """
    floors = {floor: names.split() for floor, names in FLOOR.findall(package)}
    placed = {name for names in floors.values() for name in names}
    lists = [
        f"**{FLOOR_NAME[lang].format(floor)}**\n\n{_list(names, docs)}"
        for floor, names in floors.items()
    ]
    rest = _list([name for name in docs if name not in placed], docs)
    text = FLOORS.sub(lambda _: "\n\n".join(lists) + "\n", package, count=1)
    return f"{text}\n\n{rest}"


def _list(names: list[str], docs: Mapping[str, str]) -> str:
    return "\n".join(
        f"- [`{name}`]({name}.md): {_first_line(docs[name])}"
        for name in names
        if name in docs
    )


def _first_line(doc: str) -> str:
    return doc.splitlines()[0]
