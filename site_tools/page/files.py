"""The files of pages: where they lie, their front matter, no links out of them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from site_tools.problems import Problem, problem
from site_tools.say import Refusal

FOLDERS = ("docs", "snippets")
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
TAG = re.compile(r"<[A-Za-z/!?][^>\n]*>?|&#?\w+;")
# The one in C, where PyYAML has it, reads ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 20  # lists and mappings in each other


def _refusal(key: str, mark: Any, **values: object) -> Refusal:
    return Refusal(key, line=mark.line + 1, **values)


class StrictLoader(LOADER):  # type: ignore[misc, valid-type]
    """Refuses a key that stands twice, of which YAML would keep the second."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key.value, str):
                raise _refusal("yaml_key", key.start_mark)
            if key.value in seen:
                raise _refusal("yaml_key_twice", key.start_mark, name=repr(key.value))
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def limit(text: str) -> None:
    """Refuse YAML that a few lines could make endless: aliases, depth."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise _refusal("yaml_deep", event.start_mark, most=DEEPEST)
        if isinstance(event, yaml.AliasEvent):
            raise _refusal("yaml_alias", event.start_mark, name=event.anchor)


def read_front_matter(text: str, path: str) -> tuple[dict[str, Any], list[Problem]]:
    """The mapping between the ``---`` lines at the top, and what is wrong with it."""
    front = FRONT_MATTER.match(text)
    if front is None:
        return {}, []
    written = front[0].strip().strip("-")
    try:
        limit(written)
        meta = yaml.load(written, Loader=StrictLoader)
    except Refusal as error:
        line = int(str(error.message.values["line"]))
        return {}, [problem(path, line, "front_matter_yaml", why=error.message)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error)
        line = mark.line + 1 if mark else 1
        return {}, [problem(path, line, "front_matter_yaml", why=why)]
    if not isinstance(meta, dict):
        kind = type(meta).__name__
        return {}, [problem(path, 1, "front_matter_mapping", kind=kind)]
    # A title is put into the head of the page and into menus as it stands.
    tags = [(front[0].count("\n", 0, t.start()), t[0]) for t in TAG.finditer(front[0])]
    key = "front_matter_html"
    return meta, [problem(path, above + 1, key, text=tag) for above, tag in tags]


def paths(docs: Path) -> Iterator[str]:
    """The pages below the folder of a language, as ``gae/inputs.md``."""
    for path in docs.rglob("*.md"):
        inner = path.relative_to(docs)
        if path.is_file() and not any(part.startswith(".") for part in inner.parts):
            yield inner.as_posix()


def front_matters(docs: Path) -> dict[str, dict[str, Any]]:
    """The front matter of each page of a language, or ValueError naming a bad one."""
    return {
        path: _read(docs / path, f"docs/{docs.name}/{path}") for path in paths(docs)
    }


def _read(page: Path, name: str) -> dict[str, Any]:
    try:
        text = page.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal("file_encoding", file=name, error=error) from None
    front, problems = read_front_matter(text, name)
    if problems:
        raise ValueError(problems[0])
    if not front and text.startswith("---"):
        raise Refusal("front_lines", file=name)
    return front


def inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to a place in a folder, also through symbolic links."""
    return path.resolve().is_relative_to(folder.resolve())


def links(root: Path) -> list[Problem]:
    """A problem for each symbolic link among pages, data and snippets."""
    found = [
        Path(at, name)
        for folder in FOLDERS
        for at, folders, files in os.walk(root / folder)
        for name in (*folders, *files)
        if Path(at, name).is_symlink()
    ]
    return [link(path, path.relative_to(root).as_posix()) for path in sorted(found)]


def link(path: Path, name: str) -> Problem:
    """The problem that a symbolic link is."""
    return problem(name, 1, "symbolic_link", to=os.readlink(path))
