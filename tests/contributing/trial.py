"""A project of one page in both languages, with all that the checks read."""

import shutil
from pathlib import Path

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
