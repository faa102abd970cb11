"""One blank between a Chinese character and a word, a number, code or a formula.

Emphasis and links have the blank outside; beside full-width punctuation is none.
"""

import re

from site_tools.fixing.letters import (
    CLOSES,
    CODE,
    FULL,
    HAN,
    OPENS,
    QUOTED,
    WORD,
    mask,
    replace,
)

MISSING = re.compile(
    f"(?<=[{HAN}]){CLOSES}*(?={OPENS}*[{WORD}])"
    f"|(?<=[{WORD}%‰°]){CLOSES}*(?={OPENS}*[{HAN}])"
)
TOO_MANY = re.compile(
    f"(?<=[{HAN}])[ \\t]{{2,}}(?=[{WORD}])|(?<=[{WORD}%‰°])[ \\t]{{2,}}(?=[{HAN}])"
)
NEEDLESS = re.compile(
    f"(?<=[{FULL}])[ \\t]+(?=[{HAN}{WORD}{CODE}{QUOTED}{OPENS}{FULL}])"
    f"|(?<=[{HAN}{WORD}%‰°{CODE}{QUOTED}{CLOSES}{FULL}])[ \\t]+(?=[{FULL}])"
)


def spaced(text: str) -> str:
    """A page with its blanks as the site has them.

    Args:
        text: A Chinese page.

    Example:
        >>> print(spaced("奖励是$r_t$， 看[GAE](x.md)的`gae_lambda`，是**V**吗"))
        奖励是 $r_t$，看 [GAE](x.md) 的 `gae_lambda`，是 **V** 吗
    """
    masked = mask(text)
    if masked is None:
        return text
    edits = [(m.end(), m.end(), " ") for m in MISSING.finditer(masked)]
    edits += [(*m.span(), " ") for m in TOO_MANY.finditer(masked)]
    edits += [(*m.span(), "") for m in NEEDLESS.finditer(masked)]
    return replace(text, edits)
