"""The bytes of a page: text as every tool reads it, and nothing that nobody sees."""

import re
import unicodedata

from site_tools.messages import Problem, problem
from site_tools.source.content import line_of

LONGEST_LINE = 2000  # characters: what reads a line may take the square of that
# What a terminal would obey, and what shows text in another order than it has.
UNSEEN_SIGN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069]"
)
MERGE_MARKS = ("<<<<<<< ", ">>>>>>> ")  # and a line of = between


def check_bytes(data: bytes, path: str) -> list[Problem]:
    """Problems of bytes that are no text as every tool reads it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        bad = data[error.start : error.end].hex(" ")
        return [problem(path, line, "bytes_not_utf8", bytes=bad)]
    problems = []
    if text.startswith("\ufeff"):
        problems.append(problem(path, 1, "bytes_mark"))
    if "\r" in text:
        line = line_of(text, text.index("\r"))
        return [*problems, problem(path, line, "bytes_crlf")]
    for number, words in enumerate(text.split("\n"), 1):
        if words.startswith(MERGE_MARKS):
            return [*problems, problem(path, number, "bytes_merge", text=words)]
        if sign := UNSEEN_SIGN.search(words):
            problems.append(_unseen(path, number, words, sign))
        if len(words) > LONGEST_LINE:
            size, most = len(words), LONGEST_LINE
            problems.append(problem(path, number, "bytes_long", size=size, most=most))
    return problems


def _unseen(path: str, number: int, words: str, sign: re.Match[str]) -> Problem:
    near = words[max(sign.start() - 8, 0) : sign.end() + 8]
    values = {
        "name": unicodedata.name(sign[0], "-").lower(),
        "sign": _code_point(sign),
        "around": UNSEEN_SIGN.sub(lambda match: f"⟨{_code_point(match)}⟩", near),
        "column": str(sign.start() + 1),
    }
    return problem(path, number, "bytes_unseen", **values)


def _code_point(sign: re.Match[str]) -> str:
    return f"U+{ord(sign[0]):04X}"
