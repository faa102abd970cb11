"""The words of a page: those that the glossary rejects, and how Chinese is set.

Quotations keep their words, set off or between quotation marks, and so does code; the
aliases of a page are its readers' words.

Chinese has full-width marks, and a blank beside what is not Chinese. Only prose is
touched: the mask of a page is as long as the page, prose stands in it as it is, all
else as one of the signs below, from the part of Unicode without characters.
(autocorrect does half of this: it takes Greek letters, formulas and emphasis for
Chinese, sets half-width brackets, and rewrites full-width letters.)
"""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from site_tools.data.names import Name, named, pattern, vocabulary
from site_tools.page.fences import scan
from site_tools.page.files import FRONT_MATTER
from site_tools.page.page import Page
from site_tools.page.pictures import line_in_picture, picture_tree
from site_tools.page.prose import PARTS, QUOTE, line_of, plain, read_content
from site_tools.page.rendered import flows
from site_tools.say import Problem, problem

CITED = re.compile(r"“[^“”\n]*”|「[^」\n]*」|\"[^\"\n]*\"")
TODO = re.compile(r"(?<!`)\bTODO\b[:：]?[^.。*?？]*")  # `TODO` is only spoken of


def check_terms(page: Page, names: Sequence[Name], root: Path) -> list[Problem]:
    """Every word of a page or its pictures that the glossary has another for."""
    title = str(page.meta.get("question", page.meta.get("title", "")))
    texts = [(page.path, page.line_with(title) or 1, title)]
    texts.append((page.path, 1, page.without_refs(plain(page.body))))
    for path in page.pictures:
        tree = picture_tree((root / path).read_text("utf-8"))
        for flow in flows(tree, page.language):
            texts.append((path, line_in_picture(flow.pieces[0].node), flow.text))
    checked = (check_text(t, path, page.language, names, at) for path, at, t in texts)
    return [*chain.from_iterable(checked)]


def check_text(
    text: str, path: str, lang: str, names: Sequence[Name], first: int = 1
) -> list[Problem]:
    """The same of a text that is not a page, as a topic's sentence or a meaning."""
    text = CITED.sub(lambda match: " " * len(match[0]), text)
    good, rejected = vocabulary(tuple(names), lang)
    spaced = " ".join(text.lower().split())
    if not any(word in spaced for word in rejected):  # far sooner known
        return []
    problems = []
    # Of all words, since a good one may hold a bad.
    for match in pattern((*rejected, *good), lang).finditer(text):
        if name := named(match[0], rejected):
            term, why = name.text("", lang), name.text("choice", lang)
            values = {"word": match[0], "term": term, "why": why}
            line = first + line_of(text, match.start()) - 1
            problems.append(problem(path, line, "word_rejected", **values))
    return problems


def todo(root: Path, path: str, text: str) -> list[Problem]:
    """Every line of a page, and of its snippet, that still says TODO."""
    page = "/".join(Path(path).with_suffix("").parts[2:])
    texts, snippet = {path: text}, f"snippets/{page}.py"
    if (root / snippet).is_file():
        texts[snippet] = (root / snippet).read_text("utf-8", errors="replace")
    return [
        problem(file, line, "todo", text=match[0].strip())
        for file, written in texts.items()
        for line, words in enumerate(written.splitlines(), 1)
        if (match := TODO.search(words))
    ]


HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# What is no prose has a sign in the mask: code and formulas are words of a sentence.
CODE, OPAQUE = "\ue000", "\ue001"
WORD = "0-9A-Za-z\u00b2\u00b3\u00b9\u0370-\u03ff\u2070-\u209f" + CODE
FULL = "，。；：？！、（）"
WIDE = dict(zip(",;:?!.()", "，；：？！。（）", strict=True))
SHOWN = re.compile(r"^(?:question|title):[ ]+(?P<value>\S.*)$", re.M)
# What is neither prose nor one of the parts of a page.
OTHER = re.compile(
    r"^[ \t]*>.*$|^.*-8<-.*$|“[^”\n]*”|「[^」\n]*」"
    r"|^[ \t]*(?:[!?]{3}\+?|===[!+]?)(?:[ \t][^\"\n]*)?"  # a box, up to its title
    r"|(?<=\])\([^()\s]*[ ]\"[^\"\n]*\"\)|\[\^[^\]\n]+\]:?|\{[^{}\n]*\}"
    r"|&#?\w+;|\\.|<[A-Za-z!/][^>\n]*>|:[a-z][a-z0-9_+-]*:",
    re.M,
)
# A mark alone beside Chinese: no ellipsis, no slice.
MARKS = re.compile(
    rf"(?<=[{HAN}）》])\**[,;:?!](?![,.;:?!/\\])"
    rf"|(?<=[{WORD}%‰°]),(?=[ \t]*[{HAN}（])"
    rf"|(?<=[{HAN}）》])\**\.(?=[ \t]|$)",
    re.M,
)
# Chinese in brackets, and a word that stands behind what it explains.
BRACKETS = re.compile(
    rf"(?<![A-Za-z0-9_\])])\([^()\n]*[{HAN}][^()\n]*\)|(?<=[{HAN}])\([A-Za-z]{{2}}[^()\n]*\)"
)
MISSING = re.compile(f"(?<=[{HAN}])(?=[{WORD}])|(?<=[{WORD}%‰°])(?=[{HAN}])")
TOO_MANY = re.compile(
    f"(?<=[{HAN}])[ \\t]{{2,}}(?=[{WORD}])|(?<=[{WORD}%‰°])[ \\t]{{2,}}(?=[{HAN}])"
)
NEEDLESS = re.compile(
    f"(?<=[{FULL}])[ \\t]+(?=[{HAN}{WORD}{FULL}])"
    f"|(?<=[{HAN}{WORD}%‰°])[ \\t]+(?=[{FULL}])"
)


def check_typography(page: Page) -> list[Problem]:
    """The lines of a Chinese page with half-width punctuation, which ``fix`` mends."""
    if page.language != "zh":
        return []
    problems = []
    lines = zip(page.text.split("\n"), widened(page.text).split("\n"), strict=True)
    for number, (old, new) in enumerate(lines, 1):
        if places := [at for at, sign in enumerate(new) if old[at] != sign]:
            shown = slice(max(places[0] - 8, 0), places[-1] + 9)
            values = {"found": old[shown], "expected": new[shown], "page": page.id}
            problems.append(page.problem(number, "marks_narrow", **values))
    return problems


def typeset(text: str) -> str:
    """A Chinese page with its punctuation full-width and its blanks in place."""
    return spaced(widened(text))


def spaced(text: str) -> str:
    """One blank between Chinese and what is not, none beside full-width punctuation."""
    masked = mask(text)
    edits = [(match.end(), match.end(), " ") for match in MISSING.finditer(masked)]
    edits += [(*match.span(), " ") for match in TOO_MANY.finditer(masked)]
    edits += [(*match.span(), "") for match in NEEDLESS.finditer(masked)]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def widened(text: str) -> str:
    """A Chinese page with full-width punctuation beside Chinese characters."""
    signs = [*text]
    for match in BRACKETS.finditer(mask(text)):
        for at in (match.start(), match.end() - 1):
            signs[at] = WIDE[signs[at]]
    # A comma behind a wide bracket is wide.
    for match in MARKS.finditer(mask("".join(signs))):
        signs[match.end() - 1] = WIDE[signs[match.end() - 1]]
    return "".join(signs)


def mask(text: str) -> str:
    """The page with a sign for all that is no prose; nothing where nobody can say."""
    if scan(text, "")[1]:
        return ""
    prose = read_content(text).body
    front = FRONT_MATTER.match(text)
    if shown := SHOWN.search(front[0]) if front else None:
        start, end = shown.span("value")
        prose = prose[:start] + text[start:end] + prose[end:]
    pairs = zip(prose.replace(CODE, OPAQUE), text, strict=True)
    masked = "".join(sign if sign == old else OPAQUE for sign, old in pairs)
    masked = QUOTE.sub(_covered, f"{masked}\n")[:-1]
    for covered in (PARTS, OTHER):
        masked = covered.sub(_covered, masked)
    return masked


def _covered(match: re.Match[str]) -> str:
    """A part of a page as signs."""
    sign = CODE if match.lastgroup in ("code", "inline") else OPAQUE
    return re.sub(r"[^\n]", sign, match[0])
