"""The answer box: the first section of a question page, set apart from the rest."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

SECTION = re.compile(r'<h2 id="answer">.*?(?=<h2\b|\Z)', re.DOTALL)
DIALOGUE = re.compile(r"(\d{3})·(\d+)")

LABELS = {
    "picture": {"zh": "图", "en": "picture"},
    "code": {"zh": "代码", "en": "code"},
    "numbers": {"zh": "数字", "en": "numbers"},
    "why": {"zh": "为什么", "en": "why"},
    "wrong-answers": {"zh": "错误说法", "en": "wrong answers"},
    "in-verl": {"zh": "verl", "en": "verl"},
    "next": {"zh": "接着问", "en": "next"},
}
ALSO = {"zh": "也有人这样问", "en": "Also asked as"}
ASKED = {"zh": "对话里的原问", "en": "As it was asked"}
FOLLOWING = {"zh": "接着问的是", "en": "Then came"}
DIALOGUES = {"zh": "对话 {}", "en": "Dialogue {}"}
CAPTION = {"zh": "本页各节", "en": "Sections of this page"}


class Said(NamedTuple):
    """A dialogue's question, as HTML, and the next one that another page answers."""

    words: str
    following: str = ""


def wrap(
    html: str,
    answers: Iterable[str],
    lang: str,
    asked: Mapping[str, Said] | None = None,
) -> str:
    """Put the section ``answer`` into a box with anchors and jump links.

    Args:
        html: The rendered body of a page; without that section it is left as it is.
        answers: What the page answers; ``004·2`` becomes the anchor ``q-004-2``.
        lang: The language of the labels.
        asked: The dialogues' questions by their ids.

    Example:
        >>> print(wrap('<h2 id="answer">Yes</h2><h2 id="code">Run</h2>', [], "en"))
        <section class="answer">
        <h2 id="answer">Yes</h2>
        <nav class="jump" aria-label="Sections of this page" data-search-exclude="1">
        <a href="#code">code</a>
        </nav>
        </section>
        <h2 id="code">Run</h2>
    """
    section = SECTION.search(html)
    if section is None:
        return html
    questions = [match for a in answers if (match := DIALOGUE.fullmatch(str(a)))]
    box = [
        '<section class="answer">',
        *(f'<span id="q-{match[1]}-{match[2]}"></span>' for match in questions),
        section[0].rstrip(),
        *_jumps(html, lang),
        *_asked(questions, asked or {}, lang),
        "</section>\n",
    ]
    return html[: section.start()] + "\n".join(box) + html[section.end() :]


def also_asked(aliases: Iterable[str], lang: str) -> str:
    """The other wordings of a question; the search has them from the front matter.

    Example:
        >>> print(also_asked(["Is V_t before the move?"], "en"))
        <aside class="aliases" data-search-exclude="1"><p>Also asked as</p><ul>
        <li>Is V_t before the move?</li>
        </ul></aside>
    """
    items = [f"<li>{escape(str(alias))}</li>" for alias in aliases]
    if not items:
        return ""
    opening = '<aside class="aliases" data-search-exclude="1">'
    return "\n".join([f"{opening}<p>{ALSO[lang]}</p><ul>", *items, "</ul></aside>"])


def _asked(
    questions: Iterable[re.Match[str]], asked: Mapping[str, Said], lang: str
) -> list[str]:
    """The askers' own words, folded, each with the way to its conversation."""
    lines = []
    for match in (match for match in questions if match[0] in asked):
        words, following = asked[match[0]]
        title = DIALOGUES[lang].format(match[0])
        link = f'<a href="/questions/#dialogue-{match[1]}">{title}</a>'
        lines.append(f"<p>{link} {words}</p>")
        if following:
            lines.append(f"<p>{FOLLOWING[lang]} {following}</p>")
    opening = f'<details class="asked-as"><summary>{ASKED[lang]}</summary>'
    return [opening, *lines, "</details>"] if lines else []


def _jumps(html: str, lang: str) -> list[str]:
    links = [
        f'<a href="#{name}">{label[lang]}</a>'
        for name, label in LABELS.items()
        if f'<h2 id="{name}">' in html
    ]
    if not links:
        return []
    caption = CAPTION[lang]
    opening = f'<nav class="jump" aria-label="{caption}" data-search-exclude="1">'
    return [opening, *links, "</nav>"]
