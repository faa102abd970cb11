"""The plots of a notebook, kept from the run that verified it for whoever builds."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from importlib.metadata import version
from pathlib import Path
from typing import Any

from site_tools.ledger import store
from site_tools.page.blocks import Block
from site_tools.page.notebooks import is_notebook
from site_tools.problems import Problem
from site_tools.running.hashes import block_hashes
from site_tools.running.manifest import Setting
from site_tools.running.manifest_files import LOCAL
from site_tools.running.model import Result


def keep(
    root: Path,
    page: str,
    blocks: Sequence[Block],
    setting: Setting,
    results: Sequence[Result],
) -> None:
    """Keep what the blocks of a page drew, if it is a notebook and all of them passed.

    Args:
        root: The project's folder.
        page: The path of the page, as in ``docs/zh/notebooks/toy.md``.
        blocks: Its blocks.
        setting: With what they ran.
        results: What they did.
    """
    if not _draws(page):
        return
    plots = [dict(result.plots) for result in results]
    made = {"key": _key(blocks, setting), "plots": plots}
    store(_file(root, page), json.dumps(made).encode())


def plots(root: Path, page: str) -> list[dict[str, str]]:
    """The SVG of each plot by its name, per block; maybe of an earlier run."""
    found: list[dict[str, str]] = _read(root, page).get("plots", [])
    return found


def missing(
    root: Path, page: str, blocks: Sequence[Block], setting: Setting
) -> list[Problem]:
    """A problem if a page is a notebook whose plots are not those of its code."""
    if not _draws(page) or _read(root, page).get("key") == _key(blocks, setting):
        return []
    return [
        Problem(
            page,
            1,
            "a notebook whose plots have not been drawn here as it stands",
            f"those of a run in which it passed, kept in {LOCAL}",
            "make build, which verifies every page before it builds",
        )
    ]


def _draws(page: str) -> bool:
    return is_notebook(page.split("/", 2)[2])


def _key(blocks: Sequence[Block], setting: Setting) -> str:
    covered = [*block_hashes(blocks).values(), *astuple(setting), version("matplotlib")]
    return hashlib.sha256(json.dumps(covered).encode()).hexdigest()[:16]


def _file(root: Path, page: str) -> Path:
    return (root / LOCAL / page.removeprefix("docs/")).with_suffix(".json")


def _read(root: Path, page: str) -> Mapping[str, Any]:
    try:
        made = json.loads(_file(root, page).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return made if isinstance(made, dict) else {}
