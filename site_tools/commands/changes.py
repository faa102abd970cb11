"""What changed against the main branch, and which pages that concerns."""

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from site_tools.page.page import LANGUAGES

BRANCHES = ("origin/main", "main", "HEAD")
# What every page rests on.
SHARED = (
    "docs/dialogues.yml",
    "docs/names.yml",
    "docs/topics.yml",
    "mkdocs",
    "pins/",
    "ppo_ref/",
    "site_tools/",
)


def changed_files(root: Path) -> list[str]:
    """Files that differ from the main branch, committed or not, new ones among them.

    Args:
        root: The project's folder.

    Raises:
        ValueError: where that is not known.
    """
    base = next(filter(None, (_base(root, name) for name in BRANCHES)), None)
    if base is None:
        raise ValueError("no git repository with a commit here")
    tracked = _git(root, "diff", "--name-only", "-z", "--relative", base, "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({*_names(tracked), *_names(new)})


def pages_of(files: Iterable[str], pages: Mapping[str, str]) -> list[str]:
    """The pages that a change of these files concerns.

    Args:
        files: Paths in the project.
        pages: The text of each page, by its id.

    Example:
        >>> pages_of(["docs/facts/kl.yml"], {"a/b": "```fact\\nkl verl 0.9.1\\n```"})
        ['a/b']
    """
    found = set()
    for file in files:
        found |= {page for page, text in pages.items() if _concerns(file, page, text)}
    return sorted(found)


def shared(files: Iterable[str]) -> list[str]:
    """Those of the files that concern every page.

    Example:
        >>> shared(["README.md", "ppo_ref/kl.py"])
        ['ppo_ref/kl.py']
    """
    return [file for file in files if file.startswith(SHARED)]


def _concerns(file: str, page: str, text: str) -> bool:
    if file in [f"docs/{language}/{page}.md" for language in LANGUAGES]:
        return True
    folder, _, name = file.partition("/")
    if folder == "snippets":
        beside = name.rpartition(".")[0] == page
        return beside or f'"{name}' in text or f"({name.rpartition('/')[2]})" in text
    if file == f"docs/locks/{page}.txt":
        return True
    if file.startswith("docs/facts/"):
        concept = Path(file).stem
        return any(line.startswith(f"{concept} ") for line in text.splitlines())
    return False


def _base(root: Path, branch: str) -> str | None:
    """The commit at which this work left a branch."""
    found = _git(root, "merge-base", "HEAD", branch)
    return found.strip() if found else None


def _git(root: Path, *words: str) -> str | None:
    try:
        ran = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
        )
    except FileNotFoundError:  # no git on this machine
        return None
    return ran.stdout if ran.returncode == 0 else None


def _names(listed: str | None) -> list[str]:
    return [name for name in (listed or "").split("\0") if name]
