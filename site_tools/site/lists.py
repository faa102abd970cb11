"""What stands in a fence made from data: facts, names, and lists of pages.

Markdown leaves ``<div data-derived="topic" data-argument="gae" ...>`` in the place of
such a fence, so that reading one page does not read all; here it is filled.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape, unescape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from site_tools.data import frameworks as data
from site_tools.data.dialogues import Asked, Dialogue, Topic, read_topics
from site_tools.data.facts import Concept, concepts
from site_tools.data.names import read_names
from site_tools.page.page import LANGUAGES
from site_tools.say import Refusal
from site_tools.site import sources, status
from site_tools.site.sources import QUESTION_TOPICS, Answer
from site_tools.site.templates import as_html, fill, words
from site_tools.site.ways import other

PLACE = re.compile(r'<div class="from-data" ([^>]*)></div>')
ATTRIBUTE = re.compile(r'data-(\w+)="([^"]*)"')
MOST = 5  # pages on the home page, while no topic names one


def fill_lists(html: str, root: Path) -> str:
    """A page with its lists.

    Raises:
        Refusal: for a list or a language that there is not.
    """

    def place(match: re.Match[str]) -> str:
        values = {key: unescape(text) for key, text in ATTRIBUTE.findall(match[1])}
        name, argument = values["derived"], values["argument"]
        return derived(name, argument, values.get("language", ""), root)

    return PLACE.sub(place, html)


def derived(name: str, argument: str, lang: str, root: Path) -> str:
    """What one fence becomes.

    Args:
        name: What the fence is called, a key of ``DERIVED``.
        argument: What stands in it.
        lang: Its ``data-language``; a fact needs none.
        root: The project's folder.

    Raises:
        Refusal: for an argument or a language that there is not.
    """
    if name != "fact" and lang not in LANGUAGES:
        raise Refusal("list_language", name=name, language=lang)
    return DERIVED[name](argument.strip(), lang, root)


class Site(NamedTuple):
    """What the lists of questions are made from, in one language."""

    answers: Sequence[Answer]
    dialogues: Sequence[Dialogue]
    topics: Mapping[str, Topic]
    indexes: frozenset[str] = frozenset()  # the topics that have a page of their own

    @property
    def question_topics(self) -> list[Topic]:
        """The topics about PPO, in the order in which data flows."""
        return [self.topics[name] for name in QUESTION_TOPICS]

    @property
    def first_pages(self) -> list[Answer]:
        """The page whose picture tells each topic."""
        named = {topic.picture for topic in self.question_topics}
        return [a for a in self.answers if a.page in named] or [*self.answers[:MOST]]

    def home(self, asked: Asked) -> Answer | None:
        """The page that answers a question, once there is one."""
        return next((a for a in self.answers if asked.id in a.answers), None)

    def answered(self, questions: Sequence[Asked]) -> int:
        """How many of the questions have a page."""
        return sum(self.home(asked) is not None for asked in questions)

    def pages(self, topic: str) -> list[Answer]:
        """The pages of a topic."""
        return [answer for answer in self.answers if answer.topic == topic]

    def coming(self, topic: str) -> list[Asked]:
        """The questions of a topic that no page answers yet."""
        asked = (q for dialogue in self.dialogues for q in dialogue.questions)
        return [
            question
            for question in asked
            if question.page.partition("/")[0] == topic and not self.home(question)
        ]


def read_site(lang: str, root: Path) -> Site:
    """The pages and the data files of the project at ``root``."""
    indexes = (path.parent.name for path in (root / "docs" / lang).glob("*/index.md"))
    return Site(
        sources.answers(root, lang),
        sources.dialogues(root),
        read_topics(root),
        frozenset(indexes),
    )


def questions(order: str, lang: str, site: Site) -> str:
    """The questions ``by topic``, ``as asked``, or the ``first`` pages to read."""
    _require("questions", order, ("by topic", "as asked", "first"))
    if order == "first":
        asked = [q for dialogue in site.dialogues for q in dialogue.questions]
        return fill("lists.first", lang, site, asked)
    return fill(f"lists.{order.replace(' ', '_')}", lang, site)


def topic(name: str, lang: str, site: Site) -> str:
    """A topic's sentence and picture, then its pages, each with its short answer."""
    _require("topic", name, [*site.topics])
    return fill("lists.topic", lang, site.topics[name], site)


def wrong_answers(first: Sequence[str], lang: str, pages: Sequence[Answer]) -> str:
    """The claims about PPO of all pages; each leads to the run that refutes it."""
    claims = {
        f"{answer.page}#{wrong.id}": (wrong, answer)
        for answer in pages
        if answer.topic in QUESTION_TOPICS
        for wrong in answer.wrong
    }
    for name in first:
        if name not in claims:
            raise Refusal("list_wrong_unknown", name=name)
        if first.count(name) > 1:
            raise Refusal("list_wrong_twice", name=name)
    by_topic: dict[str, list[Any]] = {}
    for name, (wrong, answer) in claims.items():
        if name not in first:
            by_topic.setdefault(answer.topic, []).append((wrong, answer))
    begin = [claims[name] for name in first]
    return fill("lists.wrong_answers", lang, len(claims), begin, by_topic)


def places(known: Sequence[Concept], lang: str, pages: Sequence[Answer]) -> str:
    """Per concept, folded: the pages that use it, and each release's places."""
    users = {c.id: [a for a in pages if c.id in a.facts] for c in known}
    with_section = [answer for answer in pages if answer.topic in sources.TOPICS]
    return fill("lists.places", lang, known, users, with_section)


class Card(NamedTuple):
    """One concept across the releases: what differs, and who does the same."""

    concept: Concept
    cells: list[tuple[str, str, Markup]]
    same: list[str]
    answer: Answer | None


def compared(
    rows: Sequence[data.Compared],
    known: Sequence[Concept],
    lang: str,
    pages: Sequence[Answer],
) -> str:
    """A heading for each topic, a card for each row under it."""
    by_id = {concept.id: concept for concept in known}
    cards: dict[str, list[Card]] = {}
    for row in rows:
        concept = by_id[row.facts]
        cells = [
            (release, _kind(cell, release), _cell(cell, release, concept, lang))
            for release, cell in row.releases.items()
            if cell.kind != data.SAME
        ]
        same = [name for name, cell in row.releases.items() if cell.kind == data.SAME]
        shown = (a for a in pages if row.facts in a.facts and a.topic == row.topic)
        card = Card(concept, cells, same, next(shown, None))
        cards.setdefault(row.topic, []).append(card)
    return fill("lists.compared", lang, [*cards], cards)


def _kind(cell: data.Cell, release: str) -> str:
    """The first release differs from none."""
    is_first = release == data.NOW and cell.kind == data.DIFFERS
    return "first" if is_first else cell.kind


def _cell(cell: data.Cell, release: str, concept: Concept, lang: str) -> Markup:
    """The words of a cell, code in the place of each ``{1}``."""
    codes = [entry.code for entry in concept.of(release)]
    html = as_html(getattr(cell, lang))
    code = "<code>{}</code>".format
    return Markup(data.PLACE.sub(lambda at: code(escape(codes[int(at[1]) - 1])), html))


def changes(rows: Sequence[data.Change], lang: str, pages: Sequence[Answer]) -> str:
    """The releases, each with its changes; both sides lead to their places."""
    by_release = [
        (name, [*inside]) for name, inside in groupby(rows, lambda row: row.release)
    ]
    # A page that is not written in this language yet is not led to.
    return fill("lists.timeline", lang, by_release, {a.page: a.title for a in pages})


def renamed(rows: Sequence[data.Renamed], lang: str, pages: Sequence[Answer]) -> str:
    """A card for each piece of code: its names, then and now, what to know, where."""
    label = words(lang)["dialogues_copy"]
    cards = [
        (
            re.sub(r"\W|_", "-", row.names[0].lower()).strip("-"),
            row,
            ((label, row.then), (data.NOW, row.now)),
        )
        for row in rows
    ]
    return fill("lists.code_map", lang, cards, {a.page: a.title for a in pages})


def frameworks(part: str, lang: str, root: Path) -> str:
    """The frameworks: ``compared``, ``timeline``, ``places`` or the ``code map``."""
    _require("frameworks", part, ("compared", "timeline", "places", "code map"))
    pages = sources.users(root, lang)
    if part == "places":
        return places(concepts(root), lang, pages)
    if part == "code map":
        return renamed(data.code_map(root), lang, pages)
    if part == "timeline":
        return changes(data.timeline(root), lang, pages)
    return compared(data.comparison(root), concepts(root), lang, pages)


def fact(argument: str, lang: str, root: Path) -> str:
    """The places that a facts file has of a release, as in ``values verl 0.9.1``."""
    name, _, release = argument.partition(" ")
    known = {concept.id: concept for concept in concepts(root)}
    if name not in known:
        (nearest,) = difflib.get_close_matches(name, known, 1, 0) or ["-"]
        raise Refusal("fact_concept", nearest=nearest, name=name)
    return cite(known[name], release)


def cite(concept: Concept, release: str) -> str:
    """The places of a concept in one release.

    Raises:
        Refusal: if it has none.
    """
    if release not in concept.releases:
        values = {"file": concept.name, "known": ", ".join(concept.releases)}
        raise Refusal("fact_release", release=release, **values)
    return fill("lists.fact", "en", concept.of(release)).strip()


def _require(name: str, argument: str, known: Sequence[str]) -> None:
    if argument not in known:
        values = {"name": name, "known": ", ".join(known), "argument": argument}
        raise Refusal("list_unknown", **values)


DERIVED: dict[str, Callable[[str, str, Path], str]] = {
    "fact": fact,
    "notation": lambda _, lang, root: fill("lists.notation", lang, read_names(root)),
    "glossary": lambda _, lang, root: fill(
        "lists.glossary", lang, read_names(root), other(lang)
    ),
    "status": status.status,
    "benchmarks": status.benchmarks,
    "questions": lambda order, lang, root: questions(
        order, lang, read_site(lang, root)
    ),
    "topic": lambda name, lang, root: topic(name, lang, read_site(lang, root)),
    "wrong_answers": lambda first, lang, root: wrong_answers(
        first.split(), lang, sources.answers(root, lang)
    ),
    "frameworks": frameworks,
}
