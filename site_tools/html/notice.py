"""What a reader is told when the other language of a page is newer, or not there."""

import re
from html import escape

from site_tools.checks.accord import Accord, State
from site_tools.html import answer, twins
from site_tools.page.wording import FRONT, TOP

NEWER = {"zh": "英文版较新：", "en": "The Chinese version is newer: "}
BOTH = {
    "zh": "两种语言都改过，还没有核对：",
    "en": "Changed in both languages, and not compared yet: ",
}
# Told to those who came for the other language, so written in that one.
MISSING = {"zh": "中文版：还没有。", "en": "English version: not yet."}
NAMES = {
    **answer.LABELS,
    "answer": {"zh": "答案", "en": "answer"},
    TOP: {"zh": "开头", "en": "beginning"},
}
COMMA = {"zh": "、", "en": ", "}
STOP = {"zh": "。", "en": "."}
BETWEEN = {"zh": "", "en": " "}
HEADING = r'<h[2-6] id="{}">(.*?)</h[2-6]>'
ANCHOR = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)


def add(html: str, accord: Accord, lang: str, url: str) -> str:
    """A page with its notice: above the text if behind, below it if alone.

    Args:
        html: The rendered body of the page.
        accord: How its two languages stand to each other.
        lang: The language of the page.
        url: Its address within the site of that language.

    Example:
        >>> late = Accord("index", State.ZH_AHEAD, zh=("code",))
        >>> print(add("<p>Text</p>", late, "en", ""))
        <p class="languages" data-search-exclude="1">The Chinese version is newer: \
<a href="../#code" hreflang="zh">code</a>.</p>
        <p>Text</p>
    """
    there = twins.other(lang)
    if accord.state in (State.MISSING_ZH, State.MISSING_EN):
        return f"{html}\n{_paragraph(MISSING[there], there)}"
    changed = {"zh": accord.zh, "en": accord.en}
    late = [section for section in changed[there] if section != FRONT]
    newer = [section for section in late if section not in changed[lang]]
    both = [section for section in late if section in changed[lang]]
    told = [
        introduction[lang] + _links(names, html, lang, url) + STOP[lang]
        for introduction, names in ((NEWER, newer), (BOTH, both))
        if names
    ]
    return f"{_paragraph(BETWEEN[lang].join(told))}\n{html}" if told else html


def _paragraph(text: str, lang: str | None = None) -> str:
    own = f' lang="{lang}"' if lang else ""
    return f'<p class="languages"{own} data-search-exclude="1">{text}</p>'


def _links(sections: list[str], html: str, lang: str, url: str) -> str:
    there = twins.other(lang)
    address = twins.link(lang, url, there, url)
    return COMMA[lang].join(
        f'<a href="{address}{"" if name == TOP else f"#{name}"}" hreflang="{there}">'
        f"{_name(name, html, lang)}</a>"
        for name in sections
    )


def _name(section: str, html: str, lang: str) -> str:
    """What readers of this page know the section by."""
    if section in NAMES:
        return NAMES[section][lang]
    heading = re.search(HEADING.format(re.escape(section)), html, re.DOTALL)
    return ANCHOR.sub("", heading[1]) if heading else escape(section)
