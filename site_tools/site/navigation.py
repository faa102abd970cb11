"""The navigation of the site, derived from the pages that exist.

Topics stand in the order in which data flows; within a topic, a page stands after
the pages that it needs.
"""

import posixpath
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from site_tools.say import Refusal
from site_tools.site.sources import TABS, in_order
from site_tools.site.templates import words

Meta = Mapping[str, Any]
Item = dict[str, Any] | str

NESTED = {"ppo_ref"}  # made from a package, which has folders
FOLDERS = {name for folder, topics in TABS.values() for name in (folder, *topics)}


def build(pages: Mapping[str, Meta], lang: str, known: Collection[str]) -> list[Item]:
    """The navigation of one language, from front matter by path, as MkDocs takes it.

    ``known`` are the pages of every language; ``needs`` may name, by its path without
    suffix, one that is not translated yet.
    """
    labels, ids = words(lang)["labels"], {_id(path) for path in known}
    needs = {_id(path): {*(meta.get("needs") or ())} for path, meta in pages.items()}
    for path in pages:
        folder, _, name = path.partition("/")
        deep = "/" in name and folder not in NESTED
        if path != "index.md" and (folder not in FOLDERS or deep or not name):
            raise Refusal("nav_folder", path=path, folders=", ".join(sorted(FOLDERS)))
        for page in sorted(needs[_id(path)] - ids):
            raise Refusal("nav_needs", path=path, page=page)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        way = " needs ".join(reversed(error.args[1]))
        raise Refusal("nav_cycle", way=way) from None
    nav: list[Item] = ["index.md"] if "index.md" in pages else []
    for tab, (folder, topics) in TABS.items():
        items = _entries(folder, pages, needs)
        for topic in topics:
            if inside := _entries(topic, pages, needs):
                items.append({labels[topic]: inside})
        if items:
            nav.append({labels[tab]: items})
    return nav


def _id(path: str) -> str:
    return path.rpartition(".")[0]


def _entries(
    folder: str, pages: Mapping[str, Meta], needs: Mapping[str, set[str]]
) -> list[Item]:
    """The pages of a folder, then its folders, each called like its index."""
    inside = [path for path in pages if path.startswith(f"{folder}/")]
    paths = {_id(path): path for path in inside if posixpath.dirname(path) == folder}
    items: list[Item] = []
    for path in (paths[page] for page in in_order(paths, needs)):
        title = pages[path].get("question") or pages[path].get("title")
        if not title:
            raise Refusal("nav_untitled", path=path)
        items.append({str(title): path})
    deeper = {posixpath.dirname(path) for path in inside} - {folder}
    for below in sorted(name for name in deeper if posixpath.dirname(name) == folder):
        title = pages[f"{below}/index.md"]["title"]
        items.append({str(title): _entries(below, pages, needs)})
    return items
