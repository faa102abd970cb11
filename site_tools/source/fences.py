"""Code fences, found by scanning lines, and the attributes behind them.

This scan is one of three independent counts of the code on a page: Sybil's lexer
collects what runs, and the built HTML holds what readers see. All three must agree
(see ``judge.census``).
"""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from site_tools.messages import Message, Problem, Refusal, problem

TOKEN = re.compile(
    r"""(?<!\S)(?:
        \.(?P<cls>[A-Za-z][\w-]*)
      | \#[A-Za-z][\w:-]*
      | (?P<key>[A-Za-z][\w-]*)=
        (?:"(?P<a>[^"\\]*)"|'(?P<b>[^'\\]*)'|(?P<c>[^\s"'\\{}]+))
    )(?!\S)""",
    re.VERBOSE,
)
FIRST_WORD = re.compile(r"\.?(?P<language>[\w#+-]+)(?!\S)")
INFO_OPTIONS = re.compile(r'(?:\s*[A-Za-z_][\w-]*="[^"\\]*"(?!\S))*')
TEXT_BESIDE = re.compile(r"(?P<text>[^`\n]*[^`\s>][^`\n]*?)[ \t]*`{3,}[\w{][^`]*")
FENCE_MARKS = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")
# Within a fence it says that the one around it was not closed.
INNER_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})[ ]*[\w{]")
OPENING = re.compile(
    r"^(?P<prefix>[ \t>]*)(?P<marker>(?:(?:[-*+]|\d+[.)])[ \t]+)*)"
    r"(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$"
)


class Info(NamedTuple):
    """What an info string says; an id says nothing."""

    language: str  # in lower case
    classes: tuple[str, ...]
    options: dict[str, str]


def read_info(info: str) -> Info:
    """Read ``python``, ``python title="x"``, ``{ .python .cont }`` or a mixture."""
    word = FIRST_WORD.match(info)
    rest = info[word.end() :].strip() if word else info
    if rest.startswith("{") and rest.endswith("}"):
        rest = rest[1:-1]
    elif not INFO_OPTIONS.fullmatch(rest):
        raise Refusal("info_form", text=repr(rest))
    # Python-Markdown silently mangles an escaped quote; here it is refused.
    if wrong := TOKEN.sub("", rest).strip():
        raise Refusal("attributes_form", text=repr(wrong))
    classes: list[str] = []
    options: dict[str, str] = {}
    for token in TOKEN.finditer(rest):
        if token["cls"]:
            classes.append(token["cls"])
        elif token["key"]:
            options[token["key"]] = token["a"] or token["b"] or token["c"] or ""
    language = ""
    if word:
        language = word["language"]
    elif classes:
        language = classes.pop(0)
    return Info(language.lower(), tuple(classes), options)


@dataclass(frozen=True)
class Fence:
    """One fenced block: the line it opens on, its info string, its lines undented."""

    line: int
    info: str
    lines: tuple[str, ...]

    @property
    def rows(self) -> range:
        """The lines of the page that it takes, from its opening to its end."""
        return range(self.line, self.line + len(self.lines) + 2)


def scan(text: str, path: str) -> tuple[list[Fence], list[Problem]]:
    """Every fence of a page in order, and what keeps a fence from being one."""
    fences: list[Fence] = []
    problems: list[Problem] = []
    open_fence: _Open | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if open_fence is None:
            opening = OPENING.match(line)
            if opening:
                open_fence = _Open(number, opening)
            # Asked of every line, the pattern would take a quarter of a page's checks.
            if "```" in line and (beside := TEXT_BESIDE.fullmatch(line)):
                text_beside = beside["text"].strip()
                problems.append(problem(path, number, "fence_beside", text=text_beside))
            continue
        inside = open_fence.undented(line)
        if inside.rstrip() == open_fence.marks:
            fences.append(open_fence.closed())
            open_fence = None
            continue
        inner = INNER_FENCE.match(inside)
        if inner and inner["fence"].startswith(open_fence.marks):
            until = Message("until_the_next", {"at": number})
            problems.append(open_fence.unclosed(path, until))
        open_fence.lines.append(inside)
    if open_fence:
        problems.append(open_fence.unclosed(path, Message("until_the_end")))
    return fences, problems


class _Open:
    """A fence whose end has not been read yet."""

    def __init__(self, line: int, opening: re.Match[str]) -> None:
        self.line = line
        self.lines: list[str] = []
        self.marks = opening["fence"]
        self._indent = opening["prefix"]
        self._info = opening["info"].strip()

    def undented(self, line: str) -> str:
        """A line without the indent of the fence."""
        if line.startswith(self._indent):
            return line[len(self._indent) :]
        return line.lstrip(" \t>")

    def closed(self) -> Fence:
        return Fence(self.line, self._info, tuple(self.lines))

    def unclosed(self, path: str, until: Message) -> Problem:
        """The problem that it is not closed; perhaps a line is meant to."""
        values: dict[str, Any] = {"fence": self.marks, "until": until}
        for at, text in enumerate(self.lines, self.line + 1):
            if FENCE_MARKS.fullmatch(text):
                key = "fence_closed_otherwise"
                return problem(path, self.line, key, at=at, text=text, **values)
        return problem(path, self.line, "fence_unclosed", **values)
