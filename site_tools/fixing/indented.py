"""Code that is only indented: Markdown shows it as code without any fence."""

import re
from collections.abc import Iterator

# What may have an indented body: a list item, a box, a tab, a footnote.
OWNER = re.compile(r"[ ]*(?:[-*+][ \t]|\d+[.)][ \t]|[!?]{3}|===|\[\^)")


def indented_code(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of lines that stand four blanks deeper than plain text above them.

    Args:
        text: The page with front matter and fences blanked.

    Example:
        >>> list(indented_code("one\\n\\n    code\\n\\n- item\\n\\n    text\\n"))
        [(5, 13)]
    """
    above: list[tuple[int, bool]] = []  # depth of a line, and whether it may own others
    offset, blank, code = 0, True, False
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(" "))
        if line.strip():
            above = [row for row in above if row[0] < depth]
            parent, owns = above[-1] if above else (0, False)
            if blank or depth < 4:
                code = depth - parent >= 4 and not owns
            if code:
                yield offset, offset + len(line)
            else:
                above.append((depth, bool(OWNER.match(line))))
        blank = not line.strip()
        offset += len(line) + 1
