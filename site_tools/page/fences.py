"""Code fences, found by scanning lines, and the attributes behind them.

This scan is one of three independent counts of the code on a page: Sybil's lexer
collects what runs, and the built HTML holds what readers see. All three must agree
(see ``census``).
"""

import re
from dataclasses import dataclass, field

from site_tools.problems import Problem, problem
from site_tools.say import Refusal

TOKEN = re.compile(
    r"""\s*(?:
        \.(?P<cls>[A-Za-z][\w-]*)
      | \#(?P<id>[A-Za-z][\w:-]*)
      | (?P<key>[A-Za-z][\w-]*)=
        (?:"(?P<double>[^"\\]*)"|'(?P<single>[^'\\]*)'|(?P<bare>[^\s"'\\{}]+))
    )(?=\s|$)""",
    re.VERBOSE,
)


FIRST_WORD = re.compile(r"\.?(?P<language>[\w#+-]+)(?=\s|$)")
OPTION = re.compile(r'\s*(?P<text>[A-Za-z_][\w-]*="[^"\\]*")(?=\s|$)')


@dataclass(frozen=True)
class Attributes:
    """Classes in order, the id if there is one, and the other keys."""

    classes: tuple[str, ...] = ()
    id: str | None = None
    values: dict[str, str] = field(default_factory=dict)


def read_attributes(text: str) -> Attributes:
    """Read the inside of ``{ ... }``.

    Raises:
        ValueError: naming the first piece that is no class, id or ``key="value"``.

    Example:
        >>> read_attributes('#why .cont data-is="a[0, 0]"').values
        {'data-is': 'a[0, 0]'}
    """
    classes: list[str] = []
    values: dict[str, str] = {}
    name: str | None = None
    position = 0
    while text[position:].strip():
        token = TOKEN.match(text, position)
        if token is None:
            piece = text[position:].strip()
            raise Refusal("attributes_form", text=repr(piece))
        position = token.end()
        if token["cls"]:
            classes.append(token["cls"])
        elif token["id"]:
            name = token["id"]
        else:
            value = next(
                v for v in token.group("double", "single", "bare") if v is not None
            )
            values[token["key"]] = value
    return Attributes(tuple(classes), name, values)


def read_info(info: str) -> tuple[str, Attributes]:
    """Read ``python``, ``python title="x"``, ``{ .python .cont }`` and their mixtures.

    Raises:
        ValueError: if something else stands there.

    Example:
        >>> read_info('{ .python .raises }')[1].classes
        ('raises',)
    """
    word = FIRST_WORD.match(info)
    rest = info[word.end() :].strip() if word else info
    if rest.startswith("{") and rest.endswith("}"):
        attributes = read_attributes(rest[1:-1])
    else:
        attributes = _options(rest)
    if word:
        return word["language"].lower(), attributes
    language, *classes = attributes.classes or ("",)
    return language.lower(), Attributes(
        tuple(classes), attributes.id, attributes.values
    )


def _options(text: str) -> Attributes:
    position = 0
    while text[position:].strip():
        option = OPTION.match(text, position)
        if option is None:
            raise Refusal("info_form", text=repr(text))
        position = option.end()
    return read_attributes(text)


OPENING = re.compile(
    r"^(?P<prefix>[ \t>]*)(?P<marker>(?:(?:[-*+]|\d+[.)])[ \t]+)*)"
    r"(?P<fence>`{3,}|~{3,})(?P<info>.*)$"
)


@dataclass(frozen=True)
class Fence:
    """One fenced block of a page.

    Args:
        line: Line of the opening fence, from 1.
        info: What stands behind the opening fence, stripped.
        lines: The lines inside, without the indentation of the fence.
    """

    line: int
    info: str
    lines: tuple[str, ...]

    @property
    def header(self) -> tuple[str, Attributes]:
        """Language in lower case, and the attributes.

        Raises:
            ValueError: if the info string cannot be read.
        """
        return read_info(self.info)


def scan(text: str, path: str) -> tuple[list[Fence], list[Problem]]:
    """Every fence of a page, and what keeps a fence from being one.

    Args:
        text: The page.
        path: Its path, for the messages.

    Returns:
        Fences in order, and problems: a fence that is never closed, one that
        starts on the line of a list marker, one inside an HTML comment.
    """
    fences: list[Fence] = []
    problems: list[Problem] = []
    opening: re.Match[str] | None = None
    start, body = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if opening is None:
            match = OPENING.match(line)
            if match and not (match["fence"][0] == "`" and "`" in match["info"]):
                opening, start, body = match, number, []
                problems += _misplaced(match, path, number)
        elif _closes(line, opening):
            fences.append(Fence(start, opening["info"].strip(), tuple(body)))
            opening = None
        else:
            body.append(_dedent(line, opening["prefix"]))
    if opening is not None:
        problems.append(_unclosed(opening, path, start))
    return fences, problems + _in_comments(text, fences, path)


def _closes(line: str, opening: re.Match[str]) -> bool:
    inside = _dedent(line, opening["prefix"])
    return inside.rstrip() == opening["fence"]


def _dedent(line: str, prefix: str) -> str:
    return line[len(prefix) :] if line.startswith(prefix) else line.lstrip(" \t>")


def _misplaced(match: re.Match[str], path: str, line: int) -> list[Problem]:
    if not match["marker"]:
        return []
    marker = repr(match["marker"].strip())
    return [problem(path, line, "fence_in_list", marker=marker)]


def _unclosed(opening: re.Match[str], path: str, line: int) -> Problem:
    values = {"fence": opening["fence"], "prefix": opening["prefix"]}
    return problem(path, line, "fence_unclosed", **values)


def _in_comments(text: str, fences: list[Fence], path: str) -> list[Problem]:
    fenced = {n for f in fences for n in range(f.line, f.line + len(f.lines) + 2)}
    problems = []
    for comment in re.finditer(r"<!--.*?(?:-->|\Z)", text, re.DOTALL):
        first = text.count("\n", 0, comment.start()) + 1
        last = text.count("\n", 0, comment.end()) + 1
        if first in fenced:
            continue
        problems += [
            problem(path, fence.line, "fence_in_comment")
            for fence in fences
            if first <= fence.line <= last
        ]
    return problems
