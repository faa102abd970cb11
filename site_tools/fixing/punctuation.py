"""Full-width punctuation beside Chinese characters."""

import re
from collections.abc import Iterator

from site_tools.fixing.letters import (
    CLOSES,
    CODE,
    HAN,
    OPENS,
    QUOTED,
    WORD,
    mask,
    replace,
)

WIDE = dict(zip(",;:?!.()", "，；：？！。（）", strict=True))
# A mark alone: no ellipsis, no address, no run of them.
ALONE = r"(?![,.;:?!/\\])"
SHORT = r"(?i:vs|etc|al|cf|eg|ie|fig|eq|no|sec|app|ch|pp|approx|resp)\."
MARKS = re.compile(
    f"(?<=[{HAN}）》]){CLOSES}*[,;:?!]{ALONE}"
    f"|(?<=[{WORD}{QUOTED})%‰°]){CLOSES}*[,;?!]{ALONE}"
    f"(?=[ \\t]*{OPENS}*[{HAN}（])"
    f"|(?<=[{WORD}{QUOTED})]):(?={OPENS}*[{HAN}（])"  # "-T: 从" is a slice
    f"|(?<=[{HAN}）》]){CLOSES}*(?P<stop>\\.)"
    f'(?=[{CLOSES}）"]*(?:[ \\t]|$))'
    # A sentence that ends without a blank: no ending of a file, no abbreviation.
    f"|(?<=[{HAN}）》])\\.(?=[A-Z][a-z]|[A-Za-z]+_)"
    f"|(?<![A-Za-z.])(?!{SHORT})[A-Za-z]{{2,}}\\.(?=[{HAN}])",
    re.M,
)
NUMBERED = re.compile(r"[ \t#*+-]*[一二三四五六七八九十]+\Z")
BRACKET = re.compile("[(（)）\n]")
LETTERS = re.compile(f"[A-Za-z]{{2}}|[{HAN}{CODE}{QUOTED}]")


def widened(text: str) -> str:
    """A page whose punctuation beside Chinese is full-width.

    Args:
        text: A Chinese page.

    Example:
        >>> print(widened("优势(advantage),即 V(s) 之差: 见 [0, 1]."))
        优势（advantage），即 V(s) 之差： 见 [0, 1].
    """
    for find in (_brackets, _marks):  # a comma behind a wide bracket is wide
        masked = mask(text)
        if masked is None:
            return text
        text = replace(text, [(at, at + 1, WIDE[text[at]]) for at in find(masked)])
    return text


def _marks(masked: str) -> Iterator[int]:
    for match in MARKS.finditer(masked):
        if match["stop"]:
            line = masked[masked.rfind("\n", 0, match.start()) + 1 : match.start()]
            if NUMBERED.fullmatch(line):
                continue
        yield match.end() - 1


def _brackets(masked: str) -> Iterator[int]:
    """The half-width ones of each pair that belongs to Chinese."""
    open_: list[int] = []
    for match in BRACKET.finditer(masked):
        if match[0] == "\n":
            open_ = []
        elif match[0] in "(（":
            open_.append(match.start())
        elif open_:
            pair = open_.pop(), match.start()
            if _is_chinese(masked, *pair):
                yield from (at for at in pair if masked[at] in "()")


def _is_chinese(masked: str, start: int, end: int) -> bool:
    if "（" in masked[start] or "）" in masked[end]:
        return True
    inside = masked[start + 1 : end].strip(OPENS + CLOSES + " \t")
    if not LETTERS.search(inside):
        return False  # an interval, a tuple, the number of an item
    if re.match(f"[{HAN}]", inside) or re.search(f"[{HAN}]$", inside):
        return True
    if re.search(f"[{WORD})\\]_]{CLOSES}*$", masked[:start][-9:]):
        return False  # a call, as in V(prompt)
    before = re.search(f"[{HAN}]{CLOSES}*[ \\t]?{OPENS}*$", masked[:start][-9:])
    after = re.match(f"{CLOSES}*[ \\t]?{OPENS}*[{HAN}]", masked[end + 1 :][:9])
    return bool(before or after)
