"""The pages of a language as they lie in its folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from site_tools.page.front_matter import read_front_matter
from site_tools.say import Refusal


def paths(docs: Path) -> Iterator[str]:
    """The path of each page below a folder, as ``gae/inputs.md``; hidden ones are none.

    Args:
        docs: The folder of one language.
    """
    for path in docs.rglob("*.md"):
        inner = path.relative_to(docs)
        if path.is_file() and not any(part.startswith(".") for part in inner.parts):
            yield inner.as_posix()


def front_matters(docs: Path) -> dict[str, dict[str, Any]]:
    """The front matter of each page of a language, by its path.

    Args:
        docs: The folder of the language, which lies in ``docs``.

    Raises:
        ValueError: naming the page whose front matter cannot be read.
    """
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
