"""What releases do, as a card for each concept: same or not, at a glance."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from site_tools.data.facts import Concept, Entry
from site_tools.data.frameworks import DIFFERS, NONE, PLACE, SAME, Cell, Compared
from site_tools.html.navigation import LABELS
from site_tools.indexes.frameworks import discussed, place_id
from site_tools.indexes.parts import UNSEARCHED, link, section
from site_tools.indexes.sources import Answer
from site_tools.site.texts import as_html

SIGNS = {
    SAME: {"zh": "相同", "en": "same"},
    DIFFERS: {"zh": "不同", "en": "differs"},
    NONE: {"zh": "没有对应", "en": "none"},
}
COLON = {"zh": "：", "en": ": "}
READ = {"zh": "细说：", "en": "Discussed in: "}


def comparison(
    rows: Sequence[Compared],
    concepts: Sequence[Concept],
    answers: Sequence[Answer],
    lang: str,
) -> str:
    """A heading for each topic, a card for each row under it."""
    known = {concept.id: concept for concept in concepts}
    labels = {row.topic: escape(LABELS[row.topic][lang]) for row in rows}
    ways = (f'<a href="#compared-{name}">{label}</a>' for name, label in labels.items())
    lines = [f'<p class="count"{UNSEARCHED}>{" · ".join(ways)}</p>']
    for topic, inside in groupby(rows, lambda row: row.topic):
        lines.append(f'<h3 id="compared-{topic}">{labels[topic]}</h3>')
        lines += [_card(row, known[row.facts], answers, lang) for row in inside]
    return section(lines, own=True)


def _card(row: Compared, concept: Concept, answers: Sequence[Answer], lang: str) -> str:
    title = as_html(concept.zh if lang == "zh" else concept.en)
    same = [release for release, cell in row.releases.items() if cell.kind == SAME]
    lines = [
        f'<div class="compared" id="compared-{escape(row.facts)}">',
        f"<h4>{title}</h4>",
        "<dl>",
        *(
            _cell(r, cell, concept, lang)
            for r, cell in row.releases.items()
            if r not in same
        ),
    ]
    if same:  # one line for all of them
        labels = "".join(f"<dt>{_label(release, concept)}</dt>" for release in same)
        lines.append(f'<div class="same">{labels}<dd>{SIGNS[SAME][lang]}</dd></div>')
    return "\n".join([*lines, "</dl>", *_page(row, answers, lang), "</div>"])


def _label(release: str, concept: Concept) -> str:
    """The name of the release, leading to its places where it has any."""
    if release not in concept.releases:
        return escape(release)
    return f'<a href="#{place_id(concept, release)}">{escape(release)}</a>'


def _cell(release: str, cell: Cell, concept: Concept, lang: str) -> str:
    places = [entry for entry in concept.entries if entry.release == release]
    words = _words(cell, places, lang)
    if cell.kind in SIGNS:
        sign = SIGNS[cell.kind][lang] + COLON[lang]
        words = f'<span class="sign">{sign}</span>{words}'
    label = _label(release, concept)
    return f'<div class="{cell.kind}"><dt>{label}</dt><dd>{words}</dd></div>'


def _words(cell: Cell, places: Sequence[Entry], lang: str) -> str:
    html = as_html(cell.zh if lang == "zh" else cell.en)
    codes = [f"<code>{escape(place.code)}</code>" for place in places]
    return PLACE.sub(lambda match: codes[int(match[1]) - 1], html)


def _page(row: Compared, answers: Sequence[Answer], lang: str) -> Iterator[str]:
    """The first question page of the row's topic that shows these places."""
    for answer in discussed(row.facts, answers):
        if answer.topic == row.topic:
            to = link(answer.page, escape(answer.title), "in-verl")
            yield f'<p class="count"{UNSEARCHED}>{READ[lang]}{to}</p>'
            return
