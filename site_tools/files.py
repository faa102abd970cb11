"""Files that are there whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from errno import EEXIST
from pathlib import Path


def store(target: Path, content: bytes, aside: Path | None = None) -> None:
    """Write at once: whoever reads beside this sees the old file or the new one.

    Args:
        target: The file.
        content: What it is to hold.
        aside: Where the new one is prepared, on the same disk; beside the file if
            nobody watches that folder.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=aside or target.parent, prefix=".")
    try:
        with open(handle, "wb") as part:
            part.write(content)
        os.chmod(name, 0o644)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def store_together(files: Mapping[Path, bytes]) -> None:
    """Write new files, all of them or none.

    Args:
        files: What each is to hold; none of them may be there.

    Raises:
        OSError: why one of them could not be written; then none is there.
    """
    folders = {f for file in files for f in file.parents if not f.exists()}
    written: list[Path] = []
    try:
        for file, content in files.items():
            if file.exists():
                raise FileExistsError(EEXIST, os.strerror(EEXIST), str(file))
            store(file, content)
            written.append(file)
    except BaseException:
        for file in written:
            file.unlink(missing_ok=True)
        for folder in sorted(folders, key=lambda f: -len(f.parts)):
            with suppress(OSError):
                folder.rmdir()
        raise
