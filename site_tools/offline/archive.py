"""Files as a zip: the same bytes for the same files, wherever it is made."""

import io
from collections.abc import Mapping
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

PLAIN_FILE = 0o100644 << 16
UNIX = 3


def pack(files: Mapping[str, bytes], folder: str) -> bytes:
    """A zip with everything in one folder, sorted, at the first time that a zip knows.

    Args:
        files: Contents by path.
        folder: What the folder is called.

    Example:
        >>> pack({"a": b"1", "b": b"2"}, "x") == pack({"b": b"2", "a": b"1"}, "x")
        True
    """
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for path in sorted(files):
            entry = ZipInfo(f"{folder}/{path}")
            entry.external_attr, entry.create_system = PLAIN_FILE, UNIX
            archive.writestr(entry, files[path], ZIP_DEFLATED, compresslevel=9)
    return stream.getvalue()
