"""The bytes of a page: text as every tool reads it, and nothing that misleads."""

from site_tools.judge.signs import misleading
from site_tools.messages import Problem, problem
from site_tools.source.content import line_of

LONGEST_LINE = 2000  # characters: what reads a line may take the square of that
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
        text = text.removeprefix("\ufeff")
    if "\r" in text:
        line = line_of(text, text.index("\r"))
        return [*problems, problem(path, line, "bytes_crlf")]
    for number, words in enumerate(text.split("\n"), 1):
        if words.startswith(MERGE_MARKS):
            return [*problems, problem(path, number, "bytes_merge", text=words)]
        if told := misleading(words):
            problems.append(Problem(path, number, told))
        if len(words) > LONGEST_LINE:
            size, most = len(words), LONGEST_LINE
            problems.append(problem(path, number, "bytes_long", size=size, most=most))
    return problems
