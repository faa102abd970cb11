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

from site_tools.say import Refusal
from site_tools.site.templates import words

FOLDER = "ppo_ref"
BOOST = 0.1  # below the pages, unless somebody asks for just that name of the package
FLOOR = re.compile(r"^ +(\d+) +(\w.*)$", re.MULTILINE)
FLOORS = re.compile(r"(?:^ +\d+ +\w.*\n)+", re.MULTILINE)
LINE_LINK = re.compile(r'<a id="[^"]*__codelineno-[^"]*"[^>]*></a>')
LINE = re.compile(r'<span id="[^"]*__span-[^"]*">')
SOURCE = re.compile(r"^Source:\n((?:    .*\n?)+)", re.MULTILINE)


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

    Raises:
        Refusal: naming the module that has no docstring.

    Example:
        >>> made = pages({"__init__": '"All."', "gae": '"Sums."'}, "en")
        >>> list(made), made["ppo_ref/gae.md"].endswith("::: ppo_ref.gae")
        (['ppo_ref/index.md', 'ppo_ref/gae.md'], True)
    """
    docs = {name: _docstring(name, source) for name, source in sources.items()}
    note, made = f"{words(lang)['from_docstrings']}\n{{ .from-code }}", {}
    for name, doc in docs.items():
        *folder, last = FOLDER, *name.split(".")
        title = ".".join(folder if last == "__init__" else [*folder, last])
        path = "/".join([*folder, "index.md" if last == "__init__" else f"{last}.md"])
        body = f"::: {title}"
        if last == "__init__":
            body = _map(doc, _inside(docs, name.removesuffix("__init__")), lang)
        line = doc.splitlines()[0]
        front = {"title": title, "description": line, "search": {"boost": BOOST}}
        made[path] = f"---\n{json.dumps(front)}\n---\n\n{note}\n\n{body}"
    return made


def source(path: str) -> list[tuple[str, str]]:
    """What a reference page is made from, as ``ways.edits`` takes it.

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
        raise Refusal("module_undocumented", path=path)
    return doc


def _inside(docs: Mapping[str, str], folder: str) -> dict[str, str]:
    """What stands directly in a folder (``""`` or ``"name."``): its line by name."""
    found = {}
    for name, doc in docs.items():
        module, _, rest = name.removeprefix(folder).partition(".")
        here = name.startswith(folder) and module != "__init__"
        if here and rest in ("", "__init__"):
            page = f"{module}/index.md" if rest else f"{module}.md"
            found[module] = f"- [`{module}`]({page}): {doc.splitlines()[0]}"
    return found


def _map(package: str, lines: Mapping[str, str], lang: str) -> str:
    """The docstring of the package, each module in its floors with its line.

    A module that the table of floors forgets is a fault of the package's own tests;
    here it stands at the end, as what a folder holds does.
    """
    floors: dict[str, list[str]] = {}
    for floor, names in FLOOR.findall(package):
        floors.setdefault(floor, []).extend(names.split())
    placed = {name for names in floors.values() for name in names}

    def listed(names: list[str]) -> str:
        return "\n".join(lines[name] for name in names if name in lines)

    lists = "\n\n".join(
        f"**{words(lang)['floor'].format(floor)}**\n\n{listed(names)}"
        for floor, names in floors.items()
    )
    text = FLOORS.sub(lambda _: f"{lists}\n", package, count=1)
    return f"{text}\n\n{listed([name for name in lines if name not in placed])}"


def for_reading(doc: str, returns: str = "") -> str:
    r"""A docstring with the sections that griffe knows; a paper as a paragraph.

    Example:
        >>> for_reading("Sum.\n\nSource:\n    Paper, eq. 1.\n\nExample:\n    >>> 1\n")
        'Sum.\n\nPaper, eq. 1.\n\nExamples:\n    >>> 1\n'
        >>> for_reading("Cut.\n\nReturns:\n    One a row: its end.", "TokenMask")
        'Cut.\n\nReturns:\n    TokenMask: One a row: its end.'
    """
    if returns:
        doc = re.sub(r"^Returns:\n +", rf"\g<0>{returns}: ", doc, flags=re.MULTILINE)
    doc = SOURCE.sub(lambda match: re.sub(r"^ {4}", "", match[1], flags=re.M), doc)
    return re.sub(r"^Example:$", "Examples:", doc, flags=re.MULTILINE)
