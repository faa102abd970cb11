"""What changed in verl, release by release, and what a user notices."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from site_tools.data.facts import Concept
from site_tools.data.frameworks import Change
from site_tools.indexes.frameworks import place_id, release_id
from site_tools.indexes.parts import link, section
from site_tools.indexes.sources import Answer
from site_tools.site.texts import as_html

BEFORE = {"zh": "改前", "en": "before"}
AFTER = {"zh": "改后", "en": "after"}


def timeline(
    changes: Sequence[Change],
    concepts: Sequence[Concept],
    answers: Sequence[Answer],
    lang: str,
) -> str:
    """A list of releases, each with its changes; both sides lead to their places."""
    known = {concept.id: concept for concept in concepts}
    titles = {answer.page: answer.title for answer in answers}
    lines = ['<ol class="timeline">']
    for release, inside in groupby(changes, lambda change: change.release):
        anchor = f"since-{release_id(release)}"
        lines.append(f'<li><h3 id="{anchor}">{escape(release)}</h3><ul>')
        lines += [_item(c, known[c.facts], titles, lang) for c in inside]
        lines.append("</ul></li>")
    return section([*lines, "</ol>"], own=True)


def _item(
    change: Change, concept: Concept, titles: Mapping[str, str], lang: str
) -> str:
    what = as_html(change.zh if lang == "zh" else change.en)
    why = as_html(change.zh_why if lang == "zh" else change.en_why)
    ends = [
        f'<a href="#{place_id(concept, release)}">{word[lang]} {escape(release)}</a>'
        for word, release in ((BEFORE, change.before), (AFTER, change.release))
    ]
    # A page that is not written in this language yet is not led to.
    if change.page in titles:
        ends.append(link(change.page, escape(titles[change.page])))
    return (
        f'<li><p class="claim">{what}</p><p>{why}</p>'
        f'<p class="count">{" · ".join(ends)}</p></li>'
    )
