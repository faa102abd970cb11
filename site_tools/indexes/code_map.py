"""The code that the dialogues name, as it was and as it is."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from site_tools.data.facts import Entry
from site_tools.data.frameworks import NOW, THEN, Reason, Renamed
from site_tools.indexes.parts import link, section
from site_tools.indexes.sources import Answer
from site_tools.site.texts import as_html

LABELS = {
    THEN: {"zh": "对话看的那份", "en": "The dialogues' copy"},
    NOW: {"zh": "verl 0.9.1", "en": "verl 0.9.1"},
}


def code_map(rows: Sequence[Renamed], answers: Sequence[Answer], lang: str) -> str:
    """A card for each piece: its names, then and now, what to know, and where."""
    titles = {answer.page: answer.title for answer in answers}
    cards = (line for row in rows for line in _card(row, titles, lang))
    return section(cards, own=True)


def _card(row: Renamed, titles: Mapping[str, str], lang: str) -> Iterator[str]:
    names = "、" if lang == "zh" else ", "
    said = names.join(f"<code>{escape(name)}</code>" for name in row.names)
    yield f'<div class="compared" id="{_anchor(row)}">'
    yield f"<h2>{said}</h2>"
    yield f"<p>{as_html(row.zh if lang == 'zh' else row.en)}</p>"
    yield "<dl>"
    for release, place in ((THEN, row.then), (NOW, row.now)):
        kind, words = _place(place, lang)
        label = LABELS[release][lang]
        yield f'<div class="{kind}"><dt>{label}</dt><dd>{words}</dd></div>'
    yield "</dl>"
    if row.page in titles:
        to = link(row.page, escape(titles[row.page]))
        yield f'<p class="count">{to}</p>'
    yield "</div>"


def _place(place: Entry | Reason, lang: str) -> tuple[str, str]:
    if isinstance(place, Reason):
        return "none", as_html(place.zh if lang == "zh" else place.en)
    where = escape(f"{place.path}:{place.lines}")
    return "fact", f"{where} <code>{escape(place.code)}</code>"


def _anchor(row: Renamed) -> str:
    """From its first name: ``core_algos.py:99`` gives ``core-algos-py-99``."""
    kept = "".join(c if c.isalnum() else "-" for c in row.names[0].lower())
    return kept.strip("-")
