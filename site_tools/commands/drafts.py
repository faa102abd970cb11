"""The folder of a log's drafts: made whole or not at all, never written over."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from site_tools.commands.talk import Refusal

LOG = "log.txt"  # beside the drafts, what was parsed: not one of them by its ending


def in_the_way(folder: Path) -> Path | None:
    """What would have to give way to drafts in this folder."""
    if folder.is_dir():
        return min(folder.iterdir(), default=None)
    return folder if os.path.lexists(folder) else None


def store_drafts(folder: Path, drafts: Mapping[str, str], log: str) -> None:
    """Write the drafts and their log, all or none.

    Args:
        folder: A new or an empty one.
        drafts: The texts, by file.
        log: The log, as it was read.

    Raises:
        Refusal: if the folder cannot be made.
    """
    aside: str | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = tempfile.mkdtemp(dir=folder.parent, prefix=".")
        for name, text in {**drafts, LOG: log}.items():
            Path(aside, name).write_bytes(text.encode())
        os.chmod(aside, 0o755)
        os.rename(aside, folder)  # refuses a folder that has files by now
    except BaseException as error:
        if aside:
            shutil.rmtree(aside, ignore_errors=True)
        if isinstance(error, OSError):
            raise Refusal(f"{folder} cannot be written: {error.strerror}") from None
        raise
