"""Formulas in rendered pages: found as TeX, put back as typeset HTML.

Each formula is there twice, once for the eye and once as MathML for screen readers.
The search index needs neither, but the text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape

MARKED = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">'
    r"(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<display>.*?)\\\])</(?P=tag)>"
    r"(?P<closing>[，。、；：！？）」』》”’,.;:!?)]?)",
    re.DOTALL,
)
BARE = re.compile(r"\\\((?P<inline>.*?)\\\)(?P<display>)")
LABEL = re.compile(r"\\label\{([^}]*)\}")
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)


@dataclass(frozen=True)
class Formula:
    """TeX without its delimiters and its label."""

    tex: str
    display: bool


def find(html: str) -> list[Formula]:
    r"""The formulas that arithmatex marked in a rendered page.

    Raises:
        ValueError: if two formulas carry the same label.

    Example:
        >>> find(r'<span class="arithmatex">\(a &lt; b\)</span>')
        [Formula(tex='a < b', display=False)]
    """
    labels = LABEL.findall(" ".join(match[0] for match in MARKED.finditer(html)))
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"a label must be unique, got \\label{{{label}}} twice")
    return [_read(match) for match in MARKED.finditer(html)]


def _read(match: re.Match[str]) -> Formula:
    tex = match["display"] or match["inline"]
    return Formula(LABEL.sub("", unescape(tex)).strip(), bool(match["display"]))


def render(html: str, typeset: Mapping[Formula, str]) -> str:
    r"""Put typeset formulas in the place of marked ones; a label becomes an id.

    A browser may break a line between a formula and its punctuation, so a formula
    that it cannot break inside takes the punctuation along.

    Example:
        >>> page = r'<div class="arithmatex">\[a \label{first}\]</div>'
        >>> render(page, {Formula("a", display=True): "<math>a</math>"})
        '<div class="arithmatex" id="first"><math>a</math></div>'
    """

    def place(match: re.Match[str]) -> str:
        tag, closing, inside = match["tag"], match["closing"], typeset[_read(match)]
        if closing and inside.count('"katex-base"') == 1:
            return f'<{tag} class="arithmatex nowrap">{inside}{closing}</{tag}>'
        label = LABEL.search(match[0])
        name = f' id="{label[1]}"' if label else ""
        return f'<{tag} class="arithmatex"{name}>{inside}</{tag}>{closing}'

    return MARKED.sub(place, html)


def render_in_title(title: str, typeset: Mapping[Formula, str]) -> str:
    """Put typeset formulas into an entry of the contents, where TeX is left bare."""
    return BARE.sub(lambda match: typeset[_read(match)], title)


def anchors(html: str) -> set[str]:
    """The ids that a link within the site may name.

    Example:
        >>> anchors('<div id="td-residual">')
        {'td-residual'}
    """
    return set(re.findall(r'\sid="([^"]+)"', html))


def text(typeset: str) -> str:
    """A typeset formula as the search index shows it.

    Example:
        >>> text('<math><msub><mi>s</mi><mi>t</mi></msub></math><b aria-hidden>...</b>')
        'st'
    """
    mathml = MATHML.search(typeset)
    return re.sub(r"<[^>]*>", "", mathml[0]) if mathml else ""
