"""How Chinese is set: full-width marks, and a blank beside what is not Chinese.

Only prose is touched: the mask of a page is as long as the page, prose stands in it as
it is, all else as one of the signs below, from the part of Unicode without characters.
(autocorrect does half of this: it takes Greek letters, formulas and emphasis for
Chinese, sets half-width brackets, and rewrites full-width letters.)
"""

import re

from site_tools.messages import Problems
from site_tools.page.page import Page
from site_tools.source.content import read_content
from site_tools.source.fences import scan
from site_tools.source.files import FRONT_MATTER
from site_tools.source.inline import PARTS

HAN_SIGNS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# What is no prose has a sign in the mask: code and formulas are words of a sentence.
CODE_SIGN, OPAQUE = "\ue000", "\ue001"
LATIN_SIGNS = "0-9A-Za-z\u00b2\u00b3\u00b9\u0370-\u03ff\u2070-\u209f" + CODE_SIGN
FULL_MARKS = "，。；：？！、（）"
WIDENED = dict(zip(",;:?!.()", "，；：？！。（）", strict=True))
TITLE_LINE = re.compile(r"^(?:question|title):[ ]+(?P<value>\S.*)$", re.M)
# What is neither prose nor one of the parts of a page.
OTHER_SIGNS = re.compile(
    r"^[ \t]*>.*$|^.*-8<-.*$|“[^”\n]*”|「[^」\n]*」"
    r"|^[ \t]*(?:[!?]{3}\+?|===[!+]?)(?:[ \t][^\"\n]*)?"  # a box, up to its title
    r"|(?<=\])\([^()\s]*[ ]\"[^\"\n]*\"\)|\[\^[^\]\n]+\]:?|\{[^{}\n]*\}"
    r"|&#?\w+;|\\.|<[A-Za-z!/][^>\n]*>|:[a-z][a-z0-9_+-]*:",
    re.M,
)
# A mark alone beside Chinese: no ellipsis, no slice.
NARROW_MARKS = re.compile(
    rf"(?<=[{HAN_SIGNS}）》])\**[,;:?!](?![,.;:?!/\\])"
    rf"|(?<=[{LATIN_SIGNS}%‰°]),(?=[ \t]*[{HAN_SIGNS}（])"
    rf"|(?<=[{HAN_SIGNS}）》])\**\.(?=[ \t]|$)",
    re.M,
)
# Chinese in brackets, and a word that stands behind what it explains.
NARROW_BRACKETS = re.compile(
    rf"(?<![A-Za-z0-9_\])])\([^()\n]*[{HAN_SIGNS}][^()\n]*\)"
    rf"|(?<=[{HAN_SIGNS}])\([A-Za-z]{{2}}[^()\n]*\)"
)
MISSING_BLANK = re.compile(
    f"(?<=[{HAN_SIGNS}])(?=[{LATIN_SIGNS}])|(?<=[{LATIN_SIGNS}%‰°])(?=[{HAN_SIGNS}])"
)
SURPLUS_BLANKS = re.compile(
    f"(?<=[{HAN_SIGNS}])[ \\t]{{2,}}(?=[{LATIN_SIGNS}])"
    f"|(?<=[{LATIN_SIGNS}%‰°])[ \\t]{{2,}}(?=[{HAN_SIGNS}])"
)
NEEDLESS_BLANKS = re.compile(
    f"(?<=[{FULL_MARKS}])[ \\t]+(?=[{HAN_SIGNS}{LATIN_SIGNS}{FULL_MARKS}])"
    f"|(?<=[{HAN_SIGNS}{LATIN_SIGNS}%‰°])[ \\t]+(?=[{FULL_MARKS}])"
)


WRONG_BLANKS = {MISSING_BLANK: " ", SURPLUS_BLANKS: " ", NEEDLESS_BLANKS: ""}


def check_typography(page: Page) -> Problems:
    """The lines of a Chinese page with half-width punctuation, which ``fix`` mends."""
    if page.language != "zh":
        return
    old_lines, new_lines = page.text.split("\n"), widened(page.text).split("\n")
    for number, (old, new) in enumerate(zip(old_lines, new_lines, strict=True), 1):
        places = [at for at, sign in enumerate(new) if old[at] != sign]
        if places:
            near = slice(max(places[0] - 8, 0), places[-1] + 9)
            values = {"found": old[near], "expected": new[near], "page": page.id}
            yield page.problem(number, "marks_narrow", **values)


def typeset_chinese(text: str) -> str:
    """A Chinese page with its punctuation full-width and its blanks in place."""
    return spaced(widened(text))


def spaced(text: str) -> str:
    """One blank between Chinese and what is not, none beside full-width punctuation."""
    masked = mask(text)
    edits = []
    for pattern, blanks in WRONG_BLANKS.items():
        for match in pattern.finditer(masked):
            edits.append((match.start(), match.end(), blanks))
    for start, end, blanks in sorted(edits, reverse=True):
        text = text[:start] + blanks + text[end:]
    return text


def widened(text: str) -> str:
    """A Chinese page with full-width punctuation beside Chinese characters."""
    signs = [*text]
    for match in NARROW_BRACKETS.finditer(mask(text)):
        for at in (match.start(), match.end() - 1):
            signs[at] = WIDENED[signs[at]]
    # A comma behind a wide bracket is wide.
    for match in NARROW_MARKS.finditer(mask("".join(signs))):
        at = match.end() - 1
        signs[at] = WIDENED[signs[at]]
    return "".join(signs)


def mask(text: str) -> str:
    """The page with a sign for all that is no prose; nothing where nobody can say."""
    if scan(text, "")[1]:
        return ""
    content = read_content(text)
    prose = content.body
    front = FRONT_MATTER.match(text)
    title = TITLE_LINE.search(front[0]) if front else None
    if title:
        start, end = title.span("value")
        prose = prose[:start] + text[start:end] + prose[end:]
    signs = []
    for sign, old in zip(prose, text, strict=True):
        signs.append(sign if sign == old and sign != CODE_SIGN else OPAQUE)
    lines = "".join(signs).split("\n")
    for quotation in content.quotations:
        for row in quotation.rows:
            lines[row - 1] = OPAQUE * len(lines[row - 1])
    masked = "\n".join(lines)
    for covered in (PARTS, OTHER_SIGNS):
        masked = covered.sub(_covered, masked)
    return masked


def _covered(match: re.Match[str]) -> str:
    """A part of a page as signs: code and formulas are words of a sentence."""
    is_word = match.lastgroup in ("code", "inline")
    return _signs(match[0], CODE_SIGN if is_word else OPAQUE)


def _signs(text: str, sign: str) -> str:
    return re.sub(r"[^\n]", sign, text)
