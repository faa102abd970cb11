"""The bytes of a page: UTF-8 without a mark at its start, lines that end with LF."""

import re
from collections.abc import Iterator

from site_tools.checks.anatomy import Row
from site_tools.problems import Problem

MARK = b"\xef\xbb\xbf"
# What a terminal would obey, and what shows text in another order than it has.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
LONGEST = 2000  # characters of a line: what reads it may take the square of that
FIX = "save the file as UTF-8 without BOM, its lines ended by LF"


def check_encoding(data: bytes, path: str) -> list[Problem]:
    r"""What keeps the bytes of a page from being text as every tool reads it.

    Args:
        data: The file.
        path: Its path, for the messages.

    Example:
        >>> [problem.found for problem in check_encoding(b"one\r\ntwo\r\n", "a.md")]
        ['a carriage return at the end of the line (CRLF)']
    """
    return [Problem(path, *row) for row in _rows(data)]


def _rows(data: bytes) -> Iterator[Row]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"bytes that are no UTF-8: {data[error.start : error.end].hex(' ')}"
        yield line, found, "a page in UTF-8", FIX
        return
    if data.startswith(MARK):
        yield 1, "a byte order mark (BOM)", "UTF-8 without a mark", FIX
    if (at := data.find(b"\r")) >= 0:
        line = data.count(b"\n", 0, at) + 1
        found = "a carriage return at the end of the line (CRLF)"
        yield line, found, "lines that end with LF alone", FIX
        return
    for number, words in enumerate(text.split("\n"), 1):
        if sign := UNSEEN.search(words):
            found = f"the sign U+{ord(sign[0]):04X}, which nobody sees"
            yield number, found, "text that shows what it is", "take it out"
        if len(words) > LONGEST:
            found = f"a line of {len(words)} characters"
            yield number, found, f"at most {LONGEST}", "break it in two paragraphs"
