"""Every place in verl and elsewhere that a page leans on, concept by concept."""

import re
from collections.abc import Iterator, Sequence
from html import escape

from site_tools.data.facts import Concept
from site_tools.indexes.parts import UNSEARCHED, link, section
from site_tools.indexes.sources import TOPICS, Answer
from site_tools.site.texts import as_html

USED = {"zh": "用在：", "en": "Used by: "}
UNUSED = {"zh": "还没有哪一页用到", "en": "No page uses it yet"}
COMMA = {"zh": "、", "en": ", "}


def frameworks(
    concepts: Sequence[Concept], answers: Sequence[Answer], lang: str
) -> str:
    """Per concept, folded: the pages that use it, and each release's places."""
    places = (line for c in concepts for line in _concept(c, answers, lang))
    return section(places, own=True)


def place_id(concept: Concept, release: str) -> str:
    """The id of what a concept has of a release.

    Example:
        >>> place_id(Concept("gae_mask.yml", ()), "verl 0.3.0.post1")
        'gae_mask-verl-0-3-0-post1'
    """
    return f"{concept.id}-{release_id(release)}"


def release_id(release: str) -> str:
    """A release as part of an id.

    Example:
        >>> release_id("verl 0.3.0.post1")
        'verl-0-3-0-post1'
    """
    return re.sub(r"[^a-z0-9]+", "-", release.lower()).strip("-")


def discussed(name: str, answers: Sequence[Answer]) -> list[Answer]:
    """The question pages that show a concept, in reading order."""
    return [a for a in answers if name in a.facts and a.topic in TOPICS]


def _concept(concept: Concept, answers: Sequence[Answer], lang: str) -> Iterator[str]:
    name = concept.id
    pages = [
        link(answer.page, escape(answer.title), _anchor(answer))
        for answer in answers
        if name in answer.facts
    ]
    title = as_html(concept.zh if lang == "zh" else concept.en)
    used = USED[lang] + COMMA[lang].join(pages) if pages else UNUSED[lang]
    yield '<details class="places">'
    yield f'<summary><h3 id="{escape(name)}">{title}</h3></summary>'
    yield f'<p class="count"{UNSEARCHED}>{used}</p>'
    yield f"<dl{UNSEARCHED}>"  # the pages that use it have its lines
    for release in concept.releases:
        entries = [entry for entry in concept.entries if entry.release == release]
        anchor = place_id(concept, release)
        label = escape(release)
        yield f'<dt class="{entries[0].kind}"><span id="{anchor}">{label}</span></dt>'
        for entry in entries:
            place, code = escape(f"{entry.path}:{entry.lines}"), escape(entry.code)
            yield f'<dd class="fact">{place} <code>{code}</code></dd>'
    yield "</dl>"
    yield "</details>"


def _anchor(answer: Answer) -> str:
    """Only a question page has a section of that name."""
    return "in-verl" if answer.topic in TOPICS else ""
