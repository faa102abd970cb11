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
TOPIC_FOLDERS = {name for _, topics in TABS.values() for name in topics}
FOLDERS = {name for folder, topics in TABS.values() for name in (folder, *topics)}


def build(pages: Mapping[str, Meta], lang: str, known: Collection[str]) -> list[Item]:
    """The navigation of one language, in the form MkDocs takes it.

    Args:
        pages: Front matter by path, as in ``gae/inputs.md``.
        lang: The language of the labels.
        known: Paths of the pages of every language; ``needs`` may name, by its path
            without suffix, a page that is not translated yet.

    Raises:
        Refusal: naming the page, for a folder that is no topic, a page without
            a title, an index that is not called like its topic, a need that does
            not exist, or needs that form a cycle.

    Example:
        >>> build({"gae/inputs.md": {"question": "Enough?"}}, "en", ["gae/inputs.md"])
        [{'Questions': [{'GAE intuition': [{'Enough?': 'gae/inputs.md'}]}]}]
    """
    labels = words(lang)["labels"]
    for path, meta in pages.items():
        _check_folder(path)
        folder, _, name = path.rpartition("/")
        is_index = name == "index.md" and folder in TOPIC_FOLDERS
        if is_index and meta.get("title", labels[folder]) != labels[folder]:
            values = {"label": labels[folder], "title": meta["title"]}
            raise Refusal("nav_title", path=path, **values)
    needs = {_id(path): _needs(path, meta, known) for path, meta in pages.items()}
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


def _check_folder(path: str) -> None:
    folder, _, name = path.partition("/")
    deep = "/" in name and folder not in NESTED
    if path != "index.md" and (folder not in FOLDERS or deep or not name):
        raise Refusal("nav_folder", path=path, folders=", ".join(sorted(FOLDERS)))


def _needs(path: str, meta: Meta, known: Collection[str]) -> set[str]:
    needs = set(meta.get("needs") or ())
    for page in sorted(needs - {_id(path) for path in known}):
        raise Refusal("nav_needs", path=path, page=page)
    return needs


def _entries(
    folder: str, pages: Mapping[str, Meta], needs: Mapping[str, set[str]]
) -> list[Item]:
    """The pages of a folder, then its folders, each called like its index."""
    inside = [path for path in pages if path.startswith(f"{folder}/")]
    paths = {_id(path): path for path in inside if posixpath.dirname(path) == folder}
    items = [_entry(paths[page], pages[paths[page]]) for page in in_order(paths, needs)]
    deeper = {posixpath.dirname(path) for path in inside} - {folder}
    for below in sorted(name for name in deeper if posixpath.dirname(name) == folder):
        title = pages[f"{below}/index.md"]["title"]
        items.append({str(title): _entries(below, pages, needs)})
    return items


def _entry(path: str, meta: Meta) -> Item:
    title = meta.get("question") or meta.get("title")
    if title:
        return {str(title): path}
    if path.endswith(".md"):
        raise Refusal("nav_untitled", path=path)
    return path
