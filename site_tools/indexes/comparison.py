"""What four releases do, as a card for each concept: same or not, at a glance."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from site_tools.data.comparison import DIFFERS, NONE, PLACE, SAME, Cell, Row
from site_tools.data.facts import Concept, Entry
from site_tools.data.texts import as_html
from site_tools.html.navigation import LABELS
from site_tools.indexes.frameworks import discussed, place_id
from site_tools.indexes.parts import UNSEARCHED, link, section
from site_tools.indexes.sources import Answer

SIGNS = {
    SAME: {"zh": "相同", "en": "same"},
    DIFFERS: {"zh": "不同", "en": "differs"},
    NONE: {"zh": "没有对应", "en": "none"},
}
COLON = {"zh": "：", "en": ": "}
READ = {"zh": "细说：", "en": "Discussed in: "}


def comparison(
    rows: Sequence[Row],
    concepts: Sequence[Concept],
    answers: Sequence[Answer],
    lang: str,
) -> str:
    """A heading for each topic, a card for each row under it."""
    known = {concept.name.removesuffix(".yml"): concept for concept in concepts}
    lines = []
    for topic, inside in groupby(rows, lambda row: row.topic):
        label = escape(LABELS[topic][lang])
        lines.append(f'<h3 id="compared-{topic}">{label}</h3>')
        lines += [_card(row, known[row.facts], answers, lang) for row in inside]
    return section(lines)


def _card(row: Row, concept: Concept, answers: Sequence[Answer], lang: str) -> str:
    title = as_html(concept.zh if lang == "zh" else concept.en)
    name = escape(row.facts)
    return "\n".join(
        [
            f'<div class="compared" id="compared-{name}">',
            f"<h4>{title}</h4>",
            "<dl>",
            *(_cell(r, cell, concept, lang) for r, cell in row.by_release),
            "</dl>",
            *_page(row.facts, answers, lang),
            "</div>",
        ]
    )


def _cell(release: str, cell: Cell, concept: Concept, lang: str) -> str:
    places = [entry for entry in concept.entries if entry.release == release]
    label = escape(release)
    if places:
        label = f'<a href="#{place_id(concept, release)}">{label}</a>'
    sign = SIGNS.get(cell.kind, {}).get(lang, "")
    words = _words(cell, places, lang)
    if sign:
        colon = COLON[lang] if words else ""
        words = f'<span class="sign">{sign}{colon}</span>{words}'
    return f'<div class="{cell.kind}"><dt>{label}</dt><dd>{words}</dd></div>'


def _words(cell: Cell, places: Sequence[Entry], lang: str) -> str:
    html = as_html(cell.zh if lang == "zh" else cell.en)
    codes = [f"<code>{escape(place.code)}</code>" for place in places]
    return PLACE.sub(lambda match: codes[int(match[1]) - 1], html)


def _page(name: str, answers: Sequence[Answer], lang: str) -> Iterator[str]:
    """The first question page that shows these places, if there is one."""
    for answer in discussed(name, answers)[:1]:
        to = link(answer.page, escape(answer.title), "in-verl")
        yield f'<p class="count"{UNSEARCHED}>{READ[lang]}{to}</p>'
