"""The files of pages: where they lie, their front matter, no links out of them."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from site_tools.data import rows
from site_tools.messages import LANGUAGES, Message, Problem, Refusal, problem

PAGE_FOLDERS = ("docs", "snippets")
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
# What rows refuse that is no fault of the YAML, in words for whoever writes a page.
REFUSED = {
    "data_key_twice": "front_data_key_twice",
    "data_key_form": "front_data_key_form",
    "data_plain": "front_data_plain",
}
HTML = re.compile(r"<[A-Za-z/!?][^>\n]*>?|&#?\w+;")


def read_front_matter(text: str, path: str) -> tuple[dict[str, Any], list[Problem]]:
    """The mapping between the ``---`` lines at the top, and what is wrong with it."""
    front = FRONT_MATTER.match(text)
    if front is None:
        return {}, []
    try:
        meta = rows.plain_yaml(front[0].strip().strip("-"), "front matter")
    except Refusal as error:
        return {}, [_refused_front_matter(error.message, path)]
    if not isinstance(meta, dict):
        kind = type(meta).__name__
        return {}, [problem(path, 1, "front_matter_mapping", kind=kind)]
    problems = []
    for number, line in enumerate(front[0].split("\n"), 1):
        # A title is put into the head of the page and into menus as it stands.
        if tag := HTML.search(line):
            problems.append(problem(path, number, "front_matter_html", text=tag[0]))
    return meta, problems


def _refused_front_matter(refusal: Message, path: str) -> Problem:
    """A problem of the page's own, from what the reader of rows refuses."""
    values = dict(refusal.values)
    line = int(str(values.pop("place")).rpartition(":")[2])
    why: Any = values.get("reason")
    if why is None:
        why = Message(REFUSED[refusal.key], values)
    expected, fix = replace(why, part="expected"), replace(why, part="fix")
    told = {"why": why, "expected": expected, "fix": fix}
    return problem(path, line, "front_matter_yaml", **told)


def paths(docs: Path) -> Iterator[str]:
    """The pages below the folder of a language, as ``gae/inputs.md``."""
    for path in docs.rglob("*.md"):
        inner = path.relative_to(docs)
        hidden = any(part.startswith(".") for part in inner.parts)
        if path.is_file() and not hidden:
            yield inner.as_posix()


def text_of(file: Path) -> str:
    """The text of a page, with U+FFFD in place of bytes that are none."""
    text = file.read_bytes().decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n")


def page_ids(root: Path) -> list[str]:
    """Every page that there is in some language."""
    ids: set[str] = set()
    for language in LANGUAGES:
        ids.update(path[:-3] for path in paths(root / "docs" / language))
    return sorted(ids)


def front_matters(docs: Path) -> dict[str, dict[str, Any]]:
    """The front matter of each page of a language, or ValueError naming a bad one."""
    found = {}
    for path in paths(docs):
        name = f"docs/{docs.name}/{path}"
        try:
            text = (docs / path).read_text("utf-8")
        except UnicodeDecodeError as error:
            raise Refusal("file_encoding", file=name, error=error) from None
        front, problems = read_front_matter(text, name)
        if problems:
            raise ValueError(problems[0])
        if not front and text.startswith("---"):
            raise Refusal("front_lines", file=name)
        found[path] = front
    return found


def inside(path: Path, folder: Path) -> bool:
    """True if a path leads to a place in a folder, also through symbolic links."""
    return path.resolve().is_relative_to(folder.resolve())


def symbolic_links(root: Path) -> list[Problem]:
    """A problem for each symbolic link among pages, data and snippets."""
    found: list[Path] = []
    for folder in PAGE_FOLDERS:
        for at, folders, files in os.walk(root / folder):
            for name in (*folders, *files):
                path = Path(at, name)
                if path.is_symlink():
                    found.append(path)
    names = {path: path.relative_to(root).as_posix() for path in sorted(found)}
    return [symbolic_link(path, name) for path, name in names.items()]


def symbolic_link(path: Path, name: str) -> Problem:
    """The problem that a symbolic link is."""
    return problem(name, 1, "symbolic_link", to=os.readlink(path))


def split_aliases(aliases: object) -> dict[str, list[str]]:
    """The aliases of a page: its own under "", those of a section under its id.

    One that ends in ``#kl`` has other words for that section, between commas. Readers
    see those of the page; the search and ``new`` know all.
    """
    found: dict[str, list[str]] = {"": []}
    if not isinstance(aliases, list):
        return found
    for alias in aliases:
        words, sign, section = str(alias).rpartition(" #")
        if sign:
            found.setdefault(section, []).extend(re.split("[,，] *", words))
        else:
            found[""].append(str(alias))
    return found
