"""The one spelling of a fence: backticks, and its language in lower case."""

import re

from site_tools.fixing.letters import fences_of
from site_tools.page.fences import OPENING, Fence

ALIASES = dict.fromkeys(("py", "py3", "python3"), "python")
WORD = re.compile(r"(?P<before>\s*\{?\s*\.?)(?P<word>[\w#+-]+)(?=[\s}]|$)")


def canonical(text: str) -> str:
    """A page whose fences are spelled as the site spells them.

    Example:
        >>> print(canonical("~~~ Py title='x'\\n1\\n~~~"))
        ``` python title='x'
        1
        ```
    """
    fences = fences_of(text)
    if fences is None:
        return text
    lines = text.split("\n")
    for fence in fences:
        first, last = fence.line - 1, fence.line + len(fence.lines)
        match = OPENING.match(lines[first])
        if match is None:
            continue
        info, ticks = _info(match["info"]), match["fence"]
        if ticks[0] == "~" and not _has_backticks(fence):
            ticks = "`" * len(ticks)
            lines[last] = lines[last].replace(match["fence"], ticks)
        lines[first] = match["prefix"] + match["marker"] + ticks + info
    return "\n".join(lines)


def _info(info: str) -> str:
    match = WORD.match(info)
    if match is None:
        return info
    word = match["word"].lower()
    return match["before"] + ALIASES.get(word, word) + info[match.end() :]


def _has_backticks(fence: Fence) -> bool:
    return "`" in fence.info or any("```" in line for line in fence.lines)
