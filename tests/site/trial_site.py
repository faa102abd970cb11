"""A site of three pages, built with the real configuration, theme and tools.

``write`` puts it where a test wants it. The fixture ``trial`` (conftest.py) is a larger
one that all tests read and none changes: it is built once a run.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from site_tools.page.page import read_page
from site_tools.page.pictures import is_notebook
from site_tools.page.twins import with_both_agreed
from site_tools.run import passed
from site_tools.run.execution import run_page
from site_tools.source.files import page_ids
from tests.layout import ROOT

MACHINERY = ("mkdocs.yml", "mkdocs.en.yml", "docs/theme", "site_tools", "skills")

PAGES = Path(__file__).parent / "trial"  # small, and what the whole one has besides
ADDRESS = "https://example.org/ppo/"
TOLD = {  # as whoever publishes says it
    "SITE_URL": "https://example.org/ppo",
    "REPOSITORY": "https://github.com/owner/name",
}
RUN_PAGE = "docs/en/alignment/run.md"


def note_as_verified(root: Path) -> None:
    """Note all pages as passed, as a run of them would; notebooks are run."""
    told: dict[str, dict[str, passed.Told]] = {}
    for page_id in page_ids(root):
        told[page_id] = {}
        for file in passed.languages_of(root, page_id):
            page = read_page(root, file)
            language = {
                "blocks": sum(block.runs for block in page.blocks),
                "figures": 0,
            }
            if is_notebook(page_id):
                language = {**passed.tell(run_page(page))}
            told[page_id][page.language] = language
    passed.note(root, told)


def write(root: Path) -> None:
    """Put the trial site and what builds it under ``root``."""
    for name in MACHINERY:
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            shutil.copy(source, target)
    shutil.copytree(PAGES / "small", root, dirs_exist_ok=True)


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Put these texts under ``root``."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


def write_whole(root: Path) -> None:
    """The trial site with all that a built site may have around its pages."""
    write(root)
    for name in ("pyproject.toml", "LICENSE"):  # for the wheel
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(PAGES / "whole", root, dirs_exist_ok=True)
    behind = [root / f"docs/{lang}/alignment/behind.md" for lang in ("zh", "en")]
    zh, en = (page.read_text("utf-8") for page in behind)
    agreed = with_both_agreed({"zh": zh, "en": en}, "alignment/behind")
    changed = agreed["zh"].replace("是的", "不是").replace("就是", "并非")
    behind[0].write_text(changed, "utf-8")
    behind[1].write_text(agreed["en"], "utf-8")
    note_as_verified(root)


def build_whole(root: Path) -> None:
    """In ``site`` as it is published without an address, in ``linked`` with one."""
    write_whole(root)
    for told, folder in ((TOLD, "linked"), ({}, "site")):
        run = start(root, "site_tools.build.publish", **told)
        output, _ = run.communicate()
        assert run.returncode == 0, output
        assert "WARNING" not in output, output
        (root / "site").rename(root / folder)


def start(root: Path, *arguments: str, **told: str) -> subprocess.Popen[str]:
    """Run a module, or code behind ``-c``, in the trial site.

    Its environment says where it is published.
    """
    arguments = arguments if arguments[0] == "-c" else ("-m", *arguments)
    unsaid = {"SITE_URL": "", "REPOSITORY": ""}
    quiet = {"NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=root,
        env=os.environ | quiet | unsaid | told,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
