"""How the lines of a page are laid out: line ends, trailing blanks, empty lines."""

import re

from site_tools.fixing.letters import OPAQUE, fences_of, mask
from site_tools.page.fences import OPENING, Fence

LIST_START = re.compile(r"[ ]*(?:[-*]|1\.)[ ]+\S")
LISTED = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
# What a list may follow at once: a heading, a table, a box, a tab, an include.
LEADING = re.compile(r"[ \t]*(?:#{1,6}[ ]|\||[!?]{3}|===|>|\[\^?[^\]]+\]:)")


def line_ends(text: str) -> str:
    """Line feeds only, and no byte order mark.

    Example:
        >>> line_ends("one\\r\\ntwo\\rthree")
        'one\\ntwo\\nthree'
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def trimmed(text: str) -> str:
    """No blanks at the end of a line, one line feed at the end of the page.

    Code keeps its lines as they are, and two blanks before a further line of the
    same paragraph stay: they break the line.

    Example:
        >>> trimmed("one \\ntwo  \\nthree\\t\\n\\n\\n")
        'one\\ntwo  \\nthree\\n'
    """
    fences = fences_of(text)
    if fences is None or not text.strip():
        return text
    inside = _inside(fences)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        breaks = line.strip() and line.endswith("  ") and following.strip()
        if number + 1 not in inside and not breaks:
            lines[number] = line.rstrip(" \t")
    return "\n".join(lines).rstrip("\n") + "\n"


def apart(text: str) -> str:
    """An empty line before a fence or a list that follows a paragraph.

    Example:
        >>> apart("Three:\\n- one\\n- two\\n")
        'Three:\\n\\n- one\\n- two\\n'
    """
    masked, fences = mask(text), fences_of(text)
    if masked is None or fences is None:
        return text
    opened = {fence.line - 1 for fence in fences}
    closed = {fence.line + len(fence.lines) for fence in fences}
    lines, signs = text.split("\n"), masked.split("\n")
    found = []
    for number, line in enumerate(lines):
        above = lines[number - 1] if number else ""
        if not above.strip() or LEADING.match(above):
            gap = False
        elif number in opened:
            gap = _alone(line) and not LISTED.match(above)
        else:
            plain = number - 1 not in closed and _starts_list(signs, number)
            gap = plain and number + 1 not in _inside(fences)
        found += [""] * gap + [line]
    return "\n".join(found)


def _inside(fences: list[Fence]) -> set[int]:
    return {n for f in fences for n in range(f.line, f.line + len(f.lines) + 2)}


def _alone(line: str) -> bool:
    match = OPENING.match(line)
    return match is not None and not match["marker"] and ">" not in match["prefix"]


def _starts_list(signs: list[str], number: int) -> bool:
    """Whether a line is the first item of a list, right below a paragraph."""
    line = signs[number]
    if not LIST_START.match(line) or line.lstrip()[0] == OPAQUE:
        return False
    depth = len(line) - len(line.lstrip(" "))
    for above in reversed(signs[:number]):
        if not above.strip():
            break
        indent = len(above) - len(above.lstrip(" "))
        if LISTED.match(above) or OPAQUE in above[: indent + 1] or indent != depth:
            return False
    return True
