"""What changed against the main branch, and which pages that concerns."""

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from site_tools.say import LANGUAGES, Refusal

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

    Raises:
        Refusal: outside of a git repository with a commit.
    """
    bases = (_git(root, "merge-base", "HEAD", branch) for branch in BRANCHES)
    base = next(filter(None, bases), None)
    if base is None:
        raise Refusal("git_without_commit")
    tracked = _git(root, "diff", "--name-only", "-z", "--relative", base.strip(), "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted(
        filter(None, {*(tracked or "").split("\0"), *(new or "").split("\0")})
    )


def shared(files: Iterable[str]) -> list[str]:
    """Those of the files that concern every page.

    Example:
        >>> shared(["README.md", "ppo_ref/kl.py"])
        ['ppo_ref/kl.py']
    """
    return [file for file in files if file.startswith(SHARED)]


def pages_of(files: Iterable[str], pages: Mapping[str, str]) -> list[str]:
    """The pages that a change of these files concerns.

    Args:
        files: Paths in the project.
        pages: The text of each page, by its id.

    Example:
        >>> pages_of(["docs/facts/kl.yml"], {"a/b": "```fact\\nkl verl 0.9.1\\n```"})
        ['a/b']
    """
    files = list(files)
    return sorted(
        page
        for page, text in pages.items()
        if any(_concerns(file, page, text) for file in files)
    )


def _concerns(file: str, page: str, text: str) -> bool:
    if file in [f"docs/{language}/{page}.md" for language in LANGUAGES]:
        return True
    if file == f"docs/locks/{page}.txt":
        return True
    folder, _, name = file.partition("/")
    if folder == "snippets":
        own = name.rpartition(".")[0] == page
        return own or f'"{name}' in text or f"({name.rpartition('/')[2]})" in text
    if file.startswith("docs/facts/"):
        concept = Path(file).stem
        return any(line.startswith(f"{concept} ") for line in text.splitlines())
    return False


def _git(root: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words],
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
        )
    except FileNotFoundError:  # no git on this machine
        return None
    return done.stdout if done.returncode == 0 else None
