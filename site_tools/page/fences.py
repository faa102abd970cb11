"""Code fences, found by scanning lines, and the attributes behind them.

This scan is one of three independent counts of the code on a page: Sybil's lexer
collects what runs, and the built HTML holds what readers see. All three must agree
(see ``census``).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from site_tools.say import Message, Problem, Refusal, problem

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
OPTIONS = re.compile(r'(?:\s*[A-Za-z_][\w-]*="[^"\\]*"(?!\S))*')
BESIDE = re.compile(r"(?P<text>[^`\n]*[^`\s>][^`\n]*?)[ \t]*`{3,}[\w{][^`]*")
MARKER = re.compile(r"[-*+]|\d+[.)]")
MARKS = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")
# Within a fence it says that the one around it was not closed.
INNER = re.compile(r"(?P<fence>`{3,}|~{3,})[ ]*[\w{]")
OPENING = re.compile(
    r"^(?P<prefix>[ \t>]*)(?P<marker>(?:(?:[-*+]|\d+[.)])[ \t]+)*)"
    r"(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$"
)


class Attributes(NamedTuple):
    """The classes behind the language of a fence, and the keys; an id says nothing."""

    classes: tuple[str, ...]
    values: dict[str, str]


def read_info(info: str) -> tuple[str, Attributes]:
    """Read ``python``, ``python title="x"``, ``{ .python .cont }`` or a mixture."""
    word = FIRST_WORD.match(info)
    rest = info[word.end() :].strip() if word else info
    if rest.startswith("{") and rest.endswith("}"):
        rest = rest[1:-1]
    elif not OPTIONS.fullmatch(rest):
        raise Refusal("info_form", text=repr(rest))
    # Python-Markdown silently mangles an escaped quote; here it is refused.
    if wrong := TOKEN.sub("", rest).strip():
        raise Refusal("attributes_form", text=repr(wrong))
    tokens = [*TOKEN.finditer(rest)]
    values = {t["key"]: t["a"] or t["b"] or t["c"] or "" for t in tokens if t["key"]}
    classes = [token["cls"] for token in tokens if token["cls"]]
    language = word["language"] if word else "".join(classes[:1])
    own = classes if word else classes[1:]
    return language.lower(), Attributes(tuple(own), values)


@dataclass(frozen=True)
class Fence:
    """One fenced block: the line it opens on, its info string, its lines undented."""

    line: int
    info: str
    lines: tuple[str, ...]

    @property
    def header(self) -> tuple[str, Attributes]:
        """Language in lower case, and the attributes; ValueError where unreadable."""
        return read_info(self.info)

    @property
    def rows(self) -> range:
        """The lines of the page that it takes, from its opening to its end."""
        return range(self.line, self.line + len(self.lines) + 2)


def scan(text: str, path: str) -> tuple[list[Fence], list[Problem]]:
    """Every fence of a page in order, and what keeps a fence from being one."""
    fences: list[Fence] = []
    problems: list[Problem] = []
    opening: re.Match[str] | None = None
    start, body = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if opening is None:
            if opening := OPENING.match(line):
                start, body = number, []
            # Asked of every line, the pattern would take a quarter of a page's checks.
            if "```" in line and (beside := BESIDE.fullmatch(line)):
                words = beside["text"].strip()
                key = "fence_marked" if MARKER.fullmatch(words) else "fence_beside"
                problems.append(problem(path, number, key, text=words))
            continue
        prefix = opening["prefix"]
        own = line.startswith(prefix)
        inside = line[len(prefix) :] if own else line.lstrip(" \t>")
        if inside.rstrip() == opening["fence"]:
            fences.append(Fence(start, opening["info"].strip(), tuple(body)))
            opening = None
        else:
            inner = INNER.match(inside)
            if inner and inner["fence"].startswith(opening["fence"]):
                until = Message("until_the_next", {"at": number})
                problems.append(_unclosed(path, start, opening["fence"], body, until))
            body.append(inside)
    if opening:
        until = Message("until_the_end")
        problems.append(_unclosed(path, start, opening["fence"], body, until))
    return fences, problems


def _unclosed(
    path: str, start: int, fence: str, body: Sequence[str], until: Message
) -> Problem:
    numbered = enumerate(body, start + 1)
    meant = next((each for each in numbered if MARKS.fullmatch(each[1])), None)
    at, text = meant or (0, "")
    key = "fence_closed_otherwise" if meant else "fence_unclosed"
    return problem(path, start, key, fence=fence, at=at, text=text, until=until)
