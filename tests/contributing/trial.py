"""A project of one page in both languages, and the commands as they are typed there."""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

from site_tools.__main__ import read_options
from site_tools.contributing.talk import Talk, reason
from tests.site import sample
from tests.site.sample import ROOT

PAGE = "alignment/sample"
PATHS = [f"docs/zh/{PAGE}.md", f"docs/en/{PAGE}.md"]
EN, ZH = (
    text.replace('["004·2"]', "[]").partition("## Wrong")[0] + "## Next { #next }\n"
    for text in (sample.EN, sample.ZH)
)
SHARED = (
    "mkdocs.yml",
    "docs/dialogues.yml",
    "docs/names.yml",
    "docs/phrases.yml",
    "docs/topics.yml",
    "docs/facts",
    "ppo_ref",
    "snippets",
    "tests",
)


def make(root: Path) -> Path:
    """Lay it into an empty folder; what is shared is that of this project."""
    for name in SHARED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(ROOT / name)
    for path in ("docs/zh/reference", "docs/en/reference"):
        shutil.copytree(ROOT / path, root / path)
    put(root, ZH, EN)
    return root


def put(root: Path, *texts: str) -> None:
    """Write the page in Chinese and English."""
    for path, text in zip(PATHS, texts, strict=True):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())


def command(
    root: Path,
    *words: str,
    lang: str = "en",
    says: Sequence[str] = "",
    answer: Callable[[], str | None] | None = None,
) -> tuple[int, str]:
    """Type a command in a project: its exit status, and all that is said.

    ``says`` answers each question; then nobody is there. A refusal is said last.
    """
    out, replies = StringIO(), iter(says)
    talk = Talk(lang, False, out, answer or (lambda: next(replies, None)))
    options = read_options(words, talk)
    talk = Talk(lang, "yes" in options, out, talk.answer)
    try:
        return options.run(options, root, talk), out.getvalue()
    except ValueError as error:
        return 1, f"{out.getvalue()}{talk.of(reason(error))}\n"


def state(root: Path) -> dict[str, bytes]:
    """Every file of a folder that is no link, by its path; not those of git."""
    files = (
        file for file in root.rglob("*") if file.is_file() and not file.is_symlink()
    )
    found = {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
    return {path: data for path, data in found.items() if not path.startswith(".git/")}


def git(root: Path, *words: str) -> None:
    """Run git in a project, as somebody."""
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    command = ["git", "-C", str(root), *who, *words]
    subprocess.run(command, check=True, capture_output=True)
