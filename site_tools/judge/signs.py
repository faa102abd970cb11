"""Characters that mislead: nobody sees them, or takes them for another letter.

They are looked for in the bytes of a page, and in what it shows from other files: the
lines of its snippets, and its pictures.
"""

import re
import unicodedata
from html import unescape

from site_tools.messages import Message, Problem, Problems
from site_tools.page.page import Page
from site_tools.source.files import text_of

# What a terminal would obey, what shows text in another order than it has, and what is
# blank wherever it is shown: marks of order, tags, fillers, selectors.
UNSEEN_SIGN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# Letters that are drawn as Latin ones: of IPA, Cyrillic, Armenian, Cherokee, Coptic,
# Lisu, full-width ones, those of mathematics; Greek ones within a Latin word.
ALIKE = (
    "\u0250-\u02af\u0400-\u058f\u13a0-\u13ff\u1d00-\u1d2b\u1c80-\u1c8f\u2c80-\u2cff"
    "\ua4d0-\ua4ff\ua640-\ua69f\uab70-\uabbf\uff21-\uff3a\uff41-\uff5a"
    "\U0001d400-\U0001d7cb"
)
GREEK_ALIKE = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲ"
ALIKE_LETTER = re.compile(
    f"[{ALIKE}]|(?<=[A-Za-z])[{GREEK_ALIKE}]|[{GREEK_ALIKE}](?=[A-Za-z])"
)
MISLEADING = {"bytes_unseen": UNSEEN_SIGN, "letter_alike": ALIKE_LETTER}
NEAR_BY = 8  # characters that are shown before and behind


def misleading(words: str) -> Message | None:
    """The first character of a line that misleads."""
    for key, pattern in MISLEADING.items():
        if sign := pattern.search(words):
            near = words[max(sign.start() - NEAR_BY, 0) : sign.end() + NEAR_BY]
            values = {
                "name": unicodedata.name(sign[0], "-").lower(),
                "sign": _code_point(sign),
                "around": pattern.sub(_in_brackets, near),
                "column": str(sign.start() + 1),
            }
            return Message(key, values)
    return None


def _code_point(sign: re.Match[str]) -> str:
    return f"U+{ord(sign[0]):04X}"


def _in_brackets(sign: re.Match[str]) -> str:
    return f"⟨{_code_point(sign)}⟩"


def check_signs(page: Page) -> Problems:
    """Characters that mislead in code and pictures, or are written by their number.

    Those that stand in its own file are told with the bytes of the page.
    """
    for block in page.blocks:
        for text, number, snippet in block.lines:
            told = misleading(text)
            if snippet and told:
                yield Problem(page.path, number, told, snippet)
    for name in page.pictures:
        rows = text_of(page.root / name).split("\n")
        for number, row in enumerate(rows, 1):
            if told := misleading(unescape(row)):
                yield Problem(name, number, told)
    for number, row in enumerate(page.body.split("\n"), 1):
        told = misleading(unescape(row))
        if told and not misleading(row):
            yield Problem(page.path, number, told)
