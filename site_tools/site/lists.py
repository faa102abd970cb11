"""What stands in a fence made from data: facts, names, and lists of pages.

Markdown leaves ``<div data-derived="topic" data-argument="gae" ...>`` in the place of
such a fence, so that reading one page does not read all; here it is filled.
"""

import difflib
import re
from collections.abc import Callable, Sequence
from html import unescape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from site_tools.data import frameworks as data
from site_tools.data.dialogues import (
    Asked,
    Dialogue,
    Topic,
    read_dialogues,
    read_topics,
)
from site_tools.data.facts import concepts
from site_tools.data.names import read_names
from site_tools.page.page import LANGUAGES
from site_tools.say import Refusal
from site_tools.site import sources, status
from site_tools.site.sources import QUESTION_TOPICS, Answer
from site_tools.site.templates import fill
from site_tools.site.ways import other

PLACE = re.compile(r'<div class="from-data" ([^>]*)></div>')
ATTRIBUTE = re.compile(r'data-(\w+)="([^"]*)"')
MOST = 5  # pages on the home page, while no topic names one


def fill_lists(html: str, root: Path) -> str:
    """A page with its lists."""

    def place(match: re.Match[str]) -> str:
        values = {key: unescape(text) for key, text in ATTRIBUTE.findall(match[1])}
        name, argument = values["derived"], values["argument"]
        return derived(name, argument, values.get("language", ""), root)

    return PLACE.sub(place, html)


def derived(name: str, argument: str, lang: str, root: Path) -> str:
    """What a fence becomes, by its name, what stands in it, and its language."""
    if name != "fact" and lang not in LANGUAGES:
        raise Refusal("list_language", name=name, language=lang)
    return DERIVED[name](argument.strip(), lang, root)


class Site(NamedTuple):
    """What the lists of questions are made from, in one language."""

    answers: list[Answer]
    homes: dict[str, Answer]  # by the question that they answer
    dialogues: tuple[Dialogue, ...]
    asked: list[Asked]  # the questions of all dialogues
    topics: list[Topic]  # those about PPO, in the order in which data flows


def read_site(lang: str, root: Path) -> Site:
    """The pages and the data files of the project at ``root``."""
    answers, dialogues = sources.answers(root, lang), read_dialogues(root)
    homes = {name: answer for answer in answers for name in answer.answers}
    asked = [question for each in dialogues for question in each.questions]
    topics = [t for name, t in read_topics(root).items() if name in QUESTION_TOPICS]
    return Site(answers, homes, dialogues, asked, topics)


def questions(order: str, lang: str, root: Path) -> str:
    """The questions ``by topic``, ``as asked``, or the ``first`` pages to read."""
    _require("questions", order, ("by topic", "as asked", "first"))
    site = read_site(lang, root)
    if order == "by topic":
        indexes = [file.parent.name for file in root.glob(f"docs/{lang}/*/index.md")]
        return fill("lists.by_topic", lang, site, indexes)
    if order == "as asked":
        return fill("lists.as_asked", lang, site)
    drawn = {topic.picture for topic in site.topics}
    pages = [answer for answer in site.answers if answer.page in drawn]
    return fill("lists.first", lang, site, pages or site.answers[:MOST])


def topic(name: str, lang: str, root: Path) -> str:
    """A topic's sentence and picture, then its pages, each with its short answer."""
    topics = read_topics(root)
    _require("topic", name, [*topics])
    return fill("lists.topic", lang, topics[name], read_site(lang, root))


def wrong_answers(argument: str, lang: str, root: Path) -> str:
    """The claims about PPO of all pages; each leads to the run that refutes it."""
    claims = {
        f"{answer.page}#{wrong.id}": (wrong, answer)
        for answer in sources.answers(root, lang)
        if answer.topic in QUESTION_TOPICS
        for wrong in answer.wrong
    }
    first = argument.split()
    for name in first:
        if name not in claims:
            raise Refusal("list_wrong_unknown", name=name)
    others = [claim for name, claim in claims.items() if name not in first]
    by_topic = groupby(others, lambda claim: claim[1].topic)
    begin = [claims[name] for name in first]
    return fill("lists.wrong_answers", lang, len(claims), begin, by_topic)


def frameworks(part: str, lang: str, root: Path) -> str:
    """The frameworks: ``compared``, ``timeline``, ``places`` or the ``code map``."""
    _require("frameworks", part, ("compared", "timeline", "places", "code map"))
    pages = sources.users(root, lang)
    titles = {answer.page: answer.title for answer in pages}
    if part == "places":
        topics = sources.TOPICS
        return fill("lists.places", lang, concepts(root), pages, topics)
    if part == "code map":
        return fill("lists.code_map", lang, data.code_map(root), titles, data.NOW)
    if part == "timeline":
        releases = groupby(data.timeline(root), attrgetter("release"))
        # A page that is not written in this language yet is not led to.
        return fill("lists.timeline", lang, releases, titles)
    known = {concept.id: concept for concept in concepts(root)}
    rows = {
        t: [*rows] for t, rows in groupby(data.comparison(root), attrgetter("topic"))
    }
    return fill("lists.compared", lang, rows, known, pages, data.NOW)


def fact(argument: str, lang: str, root: Path) -> str:
    """The places that a facts file has of a release, as in ``values verl 0.9.1``."""
    name, _, release = argument.partition(" ")
    known = {concept.id: concept for concept in concepts(root)}
    if name not in known:
        (nearest,) = difflib.get_close_matches(name, known, 1, 0) or ["-"]
        raise Refusal("fact_concept", nearest=nearest, name=name)
    concept = known[name]
    if release not in concept.releases:
        values = {"file": concept.name, "known": ", ".join(concept.releases)}
        raise Refusal("fact_release", release=release, **values)
    return fill("lists.fact", "en", concept.of(release)).strip()


def _require(name: str, argument: str, known: Sequence[str]) -> None:
    if argument not in known:
        values = {"name": name, "known": ", ".join(known), "argument": argument}
        raise Refusal("list_unknown", **values)


def notation(_: str, lang: str, root: Path) -> str:
    """The symbols and what they mean."""
    return fill("lists.notation", lang, read_names(root))


def glossary(_: str, lang: str, root: Path) -> str:
    """The terms and what they mean."""
    return fill("lists.glossary", lang, read_names(root), other(lang))


DERIVED: dict[str, Callable[[str, str, Path], str]] = {
    "fact": fact,
    "notation": notation,
    "glossary": glossary,
    "status": status.status,
    "benchmarks": status.benchmarks,
    "questions": questions,
    "topic": topic,
    "wrong_answers": wrong_answers,
    "frameworks": frameworks,
}
