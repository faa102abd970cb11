"""Files that are there whole or not at all."""

import os
import tempfile
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
