"""The question or title of a page: the one prose of its front matter that is shown."""

import re
from collections.abc import Callable

from site_tools.page.front_matter import read_front_matter
from site_tools.page.prose import FRONT_MATTER

SHOWN = re.compile(r"^(?P<key>question|title):[ ]+(?P<value>\S.*)$", re.M)


def with_front(text: str, mend: Callable[[str], str]) -> str:
    """A page whose question or title is mended, and nothing else before the text.

    Args:
        text: The page.
        mend: What is done to it.

    Example:
        >>> with_front("---\\nquestion: 为何x\\nneeds: [x]\\n---\\nx\\n", str.upper)
        '---\\nquestion: 为何X\\nneeds: [x]\\n---\\nx\\n'
    """
    front = FRONT_MATTER.match(text)
    if front is None:
        return text
    found = SHOWN.search(front[0])
    if found is None:
        return text
    start, end = found.span("value")
    mended = text[:start] + mend(found["value"]) + text[end:]
    before, unreadable = read_front_matter(text, "")
    after, broken = read_front_matter(mended, "")
    same = {**before, found["key"]: None} == {**after, found["key"]: None}
    shown = isinstance(after.get(found["key"]), str)
    return mended if same and shown and not unreadable and not broken else text
