"""The reference of ``ppo_ref``: a page a module, made from what the package says.

mkdocstrings reads each module where its page asks for it. Docstrings are in English
on both sites.
"""

import ast
import json
import re
from collections.abc import Mapping

from site_tools.data.package_modules import FOLDER

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


def pages(sources: Mapping[str, str], lang: str) -> dict[str, str]:
    """The reference pages of one language, as Markdown by path.

    Args:
        sources: What ``package_modules.read`` gives.
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
        if "." not in name:
            inside = [other for other in docs if other.startswith(f"{name}.")]
            body = "\n\n".join([note, f"::: {FOLDER}.{name}", *map(_inside, inside)])
            made[f"{FOLDER}/{name}.md"] = _page(f"{FOLDER}.{name}", doc, body)
    return made


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
        file = name.replace(".", "/")
        raise ValueError(f"ppo_ref/{file}.py: must begin with a docstring, has none")
    return doc


def _inside(name: str) -> str:
    """A module of a folder, under a heading of its own on the folder's page."""
    options = "show_root_heading: true, show_root_toc_entry: true, heading_level: 2"
    return f"::: {FOLDER}.{name}\n    options: {{{options}}}"


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
    unplaced = [name for name in docs if name not in placed and "." not in name]
    rest = _list(unplaced, docs)
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
