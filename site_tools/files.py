"""Files that are there whole or not at all."""

import os
from pathlib import Path


def store(target: Path, content: bytes) -> None:
    """Write at once: whoever reads beside this sees the old file or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}")
    part.write_bytes(content)
    part.replace(target)
