"""The lines of a log that count, and the code in which nothing counts."""

import re
from collections.abc import Iterator
from itertools import count

TITLE, TIME, CONTENT = "# Chat Dialogue Log\n", "## 对话时间\n", "## 对话内容\n"
USER, ASSISTANT = "用户：", "助手："
HEADING = "### 问题 "
FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?!.*`)|~{3,})(?P<info>.*)")


def markers() -> Iterator[str]:
    """What must come, in order: three opening lines, then each round's three.

    Example:
        >>> rounds = markers()
        >>> [next(rounds) for _ in range(6)][3:]
        ['### 问题 1\\n', '用户：', '助手：']
    """
    yield from (TITLE, TIME, CONTENT)
    for number in count(1):
        yield f"{HEADING}{number}\n"
        yield from (USER, ASSISTANT)


def lines_of(text: str) -> list[str]:
    r"""The lines with their ends; only LF ends a line, which str.splitlines ignores.

    Example:
        >>> lines_of("a\x0cb\nc")
        ['a\x0cb\n', 'c']
    """
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def fence_after(line: str, fenced: str) -> str:
    """The fence that is open after a line, or nothing.

    Args:
        line: The line, without a speaker in front.
        fenced: The fence open before it.

    Example:
        >>> fence_after("```python", ""), fence_after("~~~", "```")
        ('```', '```')
        >>> fence_after("````", "```")
        ''
    """
    found = FENCE.match(line)
    if not found:
        return fenced
    if not fenced:
        return found["mark"]
    closes = found["mark"].startswith(fenced) and not found["info"].strip()
    return "" if closes else fenced
