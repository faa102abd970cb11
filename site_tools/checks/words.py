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
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from site_tools.data.names import Name, key, pattern
from site_tools.page.fences import scan
from site_tools.page.files import FRONT_MATTER
from site_tools.page.page import Page
from site_tools.page.pictures import line_in_picture, picture_tree
from site_tools.page.prose import PARTS, QUOTE, body, line_of, plain
from site_tools.page.rendered import flows
from site_tools.problems import Problem, problem

CITED = re.compile(r"“[^“”\n]*”|「[^」\n]*」|\"[^\"\n]*\"")
TODO = re.compile(r"(?<!`)\bTODO\b[:：]?[^.。*?？]*")  # `TODO` is only spoken of


def check_terms(page: Page, names: Sequence[Name], root: Path) -> list[Problem]:
    """Every word of a page or its pictures that the glossary has another for."""
    title = str(page.meta.get("question", page.meta.get("title", "")))
    texts = [(page.path, page.line_with(title) or 1, title)]
    texts.append((page.path, 1, plain(page.body, page.refs)))
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
    rejected, words = _vocabulary(tuple(names), lang)
    problems = []
    for match in words.finditer(text):
        word = key(match[0])
        if name := rejected.get(word) or rejected.get(word.removesuffix("s")):
            term, why = name.text("", lang), name.text("choice", lang)
            values = {"word": match[0], "term": term, "why": why}
            line = first + line_of(text, match.start()) - 1
            problems.append(problem(path, line, "word_rejected", **values))
    return problems


@lru_cache(maxsize=4)
def _vocabulary(
    names: tuple[Name, ...], lang: str
) -> tuple[dict[str, Name], re.Pattern[str]]:
    """Rejected words; and a pattern of all words, since a good one may hold a bad."""
    bad = {key(w): name for name in names for w in getattr(name, f"not_{lang}")}
    good = [w for n in names for w in (n.text("", lang), *getattr(n, f"also_{lang}"))]
    return bad, pattern([*bad, *good], lang)


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


CODE = "\ue000"  # code or a formula: a word of its sentence
OPAQUE = "\ue001"  # whatever else is no prose
OPENS, CLOSES = "\ue002", "\ue003"  # emphasis and links: beside the prose, not in it
QUOTED = "\ue004"  # between Chinese quotation marks, verbatim

HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Latin and Greek letters, digits, and those above or below the line.
WORD = (
    "0-9A-Za-z\u00b2\u00b3\u00b9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
    "\u0370-\u03ff\u2070-\u209f" + CODE
)
FULL = "，。；：？！、（）"
WIDE = dict(zip(",;:?!.()", "，；：？！。（）", strict=True))

SHOWN = re.compile(r"^(?:question|title):[ ]+(?P<value>\S.*)$", re.M)
# What is neither prose nor one of the parts of a page.
OTHER = re.compile(
    r"^[ \t]*>.*$|^.*-8<-.*$"
    r"|^[ \t]*(?:[!?]{3}\+?|===[!+]?)(?:[ \t][^\"\n]*)?"  # a box, up to its title
    r"|(?<=\])\([^()\s]*[ ]\"[^\"\n]*\"\)|\[\^[^\]\n]+\]:?|\{[^{}\n]*\}"
    r"|&#?\w+;|\\.|<[A-Za-z!/][^>\n]*>|:[a-z][a-z0-9_+-]*:",
    re.M,
)
LINK = re.compile(
    r"(?P<opens>!?\[)(?:[^\[\]\n]|\[[^\[\]\n]*\])*"
    rf"(?P<closes>\](?:{CLOSES}+|{OPAQUE}+|\[[^\]\n]*\]))"
)
SPOKEN = re.compile("“[^”\n]*”|「[^」\n]*」")
EMPHASIS = (
    re.compile(
        r"(?<![*\\])(?P<opens>\*\*)(?=[^\s*]).+?(?<=[^\s*])(?P<closes>\*\*)(?!\*)"
    ),
    re.compile(
        r"(?<![*\\])(?P<opens>\*)(?=[^\s*])[^*\n]+?(?<=[^\s*])(?P<closes>\*)(?!\*)"
    ),
)

# A mark alone: no ellipsis, no address, no run of them.
ALONE = r"(?![,.;:?!/\\])"
MARKS = re.compile(
    f"(?<=[{HAN}）》]){CLOSES}*[,;:?!]{ALONE}"
    f"|(?<=[{WORD}{QUOTED})%‰°]){CLOSES}*[,;?!]{ALONE}"
    f"(?=[ \\t]*{OPENS}*[{HAN}（])"
    f"|(?<=[{WORD}{QUOTED})]):(?={OPENS}*[{HAN}（])"  # "-T: 从" is a slice
    f"|(?<=[{HAN}）》]){CLOSES}*\\."
    f'(?=[{CLOSES}）"]*(?:[ \\t]|$))',
    re.M,
)
BRACKET = re.compile("[(（)）\n]")
LETTERS = re.compile(f"[A-Za-z]{{2}}|[{HAN}{CODE}{QUOTED}]")

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

Edit = tuple[int, int, str]


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
    if masked is None:
        return text
    edits = [(match.end(), match.end(), " ") for match in MISSING.finditer(masked)]
    edits += [(*match.span(), " ") for match in TOO_MANY.finditer(masked)]
    edits += [(*match.span(), "") for match in NEEDLESS.finditer(masked)]
    return replace(text, edits)


def widened(text: str) -> str:
    """A Chinese page with full-width punctuation beside Chinese characters."""
    for find in (_brackets, _marks):  # a comma behind a wide bracket is wide
        if masked := mask(text):
            text = replace(text, [(at, at + 1, WIDE[text[at]]) for at in find(masked)])
    return text


def _marks(masked: str) -> Iterator[int]:
    return (match.end() - 1 for match in MARKS.finditer(masked))


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
    before, after = masked[:start][-9:], masked[end + 1 :][:9]
    if re.search(f"[{WORD})\\]_]{CLOSES}*$", before):
        return False  # a call, as in V(prompt)
    left = re.search(f"[{HAN}]{CLOSES}*[ \\t]?{OPENS}*$", before)
    return bool(left or re.match(f"{CLOSES}*[ \\t]?{OPENS}*[{HAN}]", after))


def mask(text: str) -> str | None:
    """The mask of a page, or None where nobody can say what is code."""
    fences, problems = scan(text, "")
    if problems:
        return None
    prose = body(text, fences)
    front = FRONT_MATTER.match(text)
    if shown := SHOWN.search(front[0]) if front else None:
        start, end = shown.span("value")
        prose = prose[:start] + text[start:end] + prose[end:]
    masked = re.sub("[\ue000-\ue004]", OPAQUE, prose)
    masked = "".join(
        sign if sign == old else OPAQUE for sign, old in zip(masked, text, strict=True)
    )
    masked = QUOTE.sub(_covered, f"{masked}\n")[:-1]
    for covered in (PARTS, OTHER):
        masked = covered.sub(_covered, masked)
    masked = SPOKEN.sub(_all(QUOTED), LINK.sub(_edges, masked))
    for marked in EMPHASIS:
        masked = marked.sub(_edges, masked)
    return masked


def _all(sign: str) -> Callable[[re.Match[str]], str]:
    return lambda match: re.sub(r"[^\n]", sign, match[0])


def _covered(match: re.Match[str]) -> str:
    """A part of a page as signs."""
    signs = {"code": CODE, "inline": CODE, "target": CLOSES}
    return _all(signs.get(match.lastgroup or "", OPAQUE))(match)


def _edges(match: re.Match[str]) -> str:
    """Emphasis or a link: its text, between signs."""
    first, last = len(match["opens"]), len(match[0]) - len(match["closes"])
    picture = match[0].startswith("!")
    opens, closes = (OPAQUE, OPAQUE) if picture else (OPENS, CLOSES)
    inside = match[0][first:last]
    return opens * first + inside + closes * len(match["closes"])


def replace(text: str, edits: list[Edit]) -> str:
    """The text with stretches of it replaced; none may overlap another."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
