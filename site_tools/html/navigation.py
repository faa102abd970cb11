"""The navigation of the site, derived from the pages that exist.

Topics stand in the order in which data flows; within a topic, a page stands after
the pages that it needs.
"""

import posixpath
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from site_tools.html.reading_order import in_order

Meta = Mapping[str, Any]
Item = dict[str, Any] | str

LABELS = {
    "questions": {"zh": "问答", "en": "Questions"},
    "debug": {"zh": "查错", "en": "Debug"},
    "lab": {"zh": "实验", "en": "Lab"},
    "reference": {"zh": "查阅", "en": "Reference"},
    "about": {"zh": "关于", "en": "About"},
    "pipeline": {"zh": "一轮训练", "en": "One iteration"},
    "rewards": {"zh": "奖励与 KL", "en": "Rewards and KL"},
    "alignment": {"zh": "下标对齐", "en": "Index alignment"},
    "bootstrap": {"zh": "自举（bootstrap）", "en": "Bootstrapping"},
    "gae": {"zh": "GAE 直觉", "en": "GAE intuition"},
    "critic": {"zh": "critic 学什么", "en": "What the critic learns"},
    "on_policy": {
        "zh": "on-policy 与重要性采样",
        "en": "On-policy and importance sampling",
    },
    "contribute": {"zh": "参与", "en": "Contribute"},
    "ppo_ref": {"zh": "ppo_ref", "en": "ppo_ref"},
}

# Under each tab: the folder whose pages stand there directly, then its topics.
TABS = {
    "questions": (
        "questions",
        ("pipeline", "rewards", "alignment", "bootstrap", "gae", "critic", "on_policy"),
    ),
    "debug": ("debug", ()),
    "lab": ("notebooks", ()),
    "reference": ("reference", ("ppo_ref",)),
    "about": ("about", ("contribute",)),
}
NESTED = {"ppo_ref"}  # made from a package, which has folders
FOLDERS = {name for folder, topics in TABS.values() for name in (folder, *topics)}


def build(pages: Mapping[str, Meta], lang: str, known: Collection[str]) -> list[Item]:
    """The navigation of one language, in the form MkDocs takes it.

    Args:
        pages: Front matter by path, as in ``gae/inputs.md``.
        lang: The language of the labels.
        known: Paths of the pages of every language; ``needs`` may name, by its path
            without suffix, a page that is not translated yet.

    Raises:
        ValueError: naming the page, for a folder that is no topic, a page without
            a title, an index that is not called like its topic, a need that does
            not exist, or needs that form a cycle.

    Example:
        >>> build({"gae/inputs.md": {"question": "Enough?"}}, "en", ["gae/inputs.md"])
        [{'Questions': [{'GAE intuition': [{'Enough?': 'gae/inputs.md'}]}]}]
    """
    _check_folders(pages)
    _check_titles(pages, lang)
    needs = {_id(path): _needs(path, meta, known) for path, meta in pages.items()}
    _check_cycles(needs)
    nav: list[Item] = []
    if "index.md" in pages:
        nav.append("index.md")
    for tab, (folder, topics) in TABS.items():
        items = _entries(folder, pages, needs)
        for topic in topics:
            if inside := _entries(topic, pages, needs):
                items.append({LABELS[topic][lang]: inside})
        if items:
            nav.append({LABELS[tab][lang]: items})
    return nav


def _id(path: str) -> str:
    return path.rpartition(".")[0]


def _check_folders(pages: Mapping[str, Meta]) -> None:
    for path in pages:
        folder, _, name = path.partition("/")
        deep = "/" in name and folder not in NESTED
        if path != "index.md" and (folder not in FOLDERS or deep or not name):
            raise ValueError(
                f"{path}: a page must be <folder>/<page>, the folder one of "
                f"{', '.join(sorted(FOLDERS))}"
            )


def _check_titles(pages: Mapping[str, Meta], lang: str) -> None:
    for topic in (topic for _, topics in TABS.values() for topic in topics):
        title = pages.get(f"{topic}/index.md", {}).get("title")
        label = LABELS[topic][lang]
        if title not in (None, label):
            raise ValueError(f"{topic}/index.md: title must be {label}, got {title}")


def _needs(path: str, meta: Meta, known: Collection[str]) -> set[str]:
    needs = set(meta.get("needs") or ())
    for page in sorted(needs - {_id(path) for path in known}):
        raise ValueError(f"{path}: needs must name pages that exist, got {page}")
    return needs


def _check_cycles(needs: Mapping[str, set[str]]) -> None:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        way = " needs ".join(reversed(error.args[1]))
        raise ValueError(f"needs must not form a cycle, got {way}") from None


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
        raise ValueError(f"{path}: front matter must give question or title")
    return path
